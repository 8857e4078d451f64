import { otherNames, PRIVATE_MODE } from "./other-names.ts";
import { type Row, rows } from "./table.ts";

const TITLES: Readonly<Record<string, string>> = {
  network: "Network",
  service: "Service",
  storage: "Storage",
  lists: "Allow and block lists",
  limits: "Limits",
  timing: "Times",
  deletion: "Deletion",
  ops: "Logs and metrics",
};

const INTRODUCTION = `# Configuration

<!-- Written by scripts/settings-doc.mjs from src/app/settings; change it there. -->

Everything has a default: \`holdfast\` alone starts a server for a trial on this machine.

A setting is taken from the first of these that has it:

1. a flag: \`--max-connections 2000\` or \`--max-connections=2000\`; switches also as \`--metrics-enabled\` and \`--no-metrics-enabled\`;
2. the environment: \`HOLDFAST_MAX_CONNECTIONS=2000\`, then the name that ngit-grasp has for the same thing, where there is one;
3. the TOML file that \`--config\` or \`HOLDFAST_CONFIG\` names: \`max-connections = 2000\`;
4. the default.

An empty variable counts as not set. Sizes are written \`192KiB\` or \`5MiB\` (a bare number counts bytes), times \`500ms\`, \`20s\`, \`10m\`, \`24h\` or \`30d\` (a bare number counts seconds).
Lists are separated by commas, or are lists in the file. All mistakes are reported at once, and the server does not start with any.

\`--print-config\` shows every value and where it came from, as a configuration file; \`--print-config --json\` says the same to machines.

## The server's key

The server has a key of its own. It is taken from the systemd credential \`relay_owner_nsec\`, else from \`HOLDFAST_NSEC\` or \`NGIT_RELAY_OWNER_NSEC\` (an nsec or 64 hex digits), else from the file \`.relay-owner.nsec\` in the relay data path, which is made at the first start and is readable
for its owner only. A key that is set but broken stops the start. There is no flag for it, because everybody on a machine can read command lines.
`;

/** A table cell: one line, and no bar that would end it. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function defaultText({ setting: { type, default: fallback } }: Row): string {
  if ("derive" in fallback) return `from ${fallback.from}`;
  const shown = type.show(fallback.value);
  return shown === undefined || shown === "" ? "not set" : `\`${shown}\``;
}

function section(group: string): string {
  const lines = rows
    .filter((row) => row.group === group)
    .map((row) => {
      const names = [row.env, ...row.ngit].map((name) => `\`${name}\``).join(", ");
      const { meaning, reason, type } = row.setting;
      return `| \`${row.name}\` | ${cell(defaultText(row))} | ${cell(meaning)} Written as ${cell(type.describe)}. *${cell(reason)}* | ${names} |`;
    });
  return `## ${TITLES[group] ?? group}\n\n| Setting | Default | Meaning, and *reason* | Variables |\n|---|---|---|---|\n${lines.join("\n")}\n`;
}

function others(): string {
  const line = ({ name, why }: { readonly name: string; readonly why: string }): string => `| \`${name}\` | ${cell(why)} |`;
  return `## Names that set nothing

These variables of ngit-grasp are accepted with a warning, so that its environment can be used unchanged. \`${PRIVATE_MODE}=true\` stops the start instead: private services are not part of this version, and a public one in its place would show what was meant to be private.
Any other variable that begins with \`HOLDFAST_\` or \`NGIT_\` is taken for a slip of the pen and stops the start.

| Variable | It … |
|---|---|
${otherNames.map(line).join("\n")}
`;
}

/** The page `docs/CONFIGURATION.md`. */
export function settingsManual(): string {
  const groups = [...new Set(rows.map((row) => row.group))];
  return [INTRODUCTION, ...groups.map(section), others()].join("\n");
}
