import { FaultError } from "../base/fault.ts";
import { systemClock } from "../base/io/system-clock.ts";
import { StoreProblem } from "../store/io/sqlite-file.ts";
import { StartProblem, startServer } from "./build.ts";
import { printConfig, printConfigJson } from "./config-print.ts";
import { readConfig } from "./io/read-config.ts";
import { BUILD } from "./version.ts";
import { welcome } from "./welcome.ts";

const EXIT_OK = 0;
const EXIT_FAILED = 1;
/** Wrong words on the command line or in the configuration, as is the custom. */
const EXIT_USAGE = 2;

const USAGE = `holdfast ${BUILD.version}

  holdfast [serve] [flags]      run the server
  holdfast --print-config       show every setting, its value and where it came from (--json for machines)
  holdfast --help               this text
  holdfast --version

Every setting is a flag, an environment variable or a line of a file: docs/CONFIGURATION.md lists them.
`;

/** Runs a command and says with which code the process shall end. */
export async function run(argv: readonly string[]): Promise<number> {
  const { arguments: args, result } = await readConfig(argv, process.env);
  if (args.help) return print(USAGE);
  if (args.version) return print(`${BUILD.version}\n`);
  const [command = "serve", ...rest] = args.words;
  const problems = result.kind === "bad" ? [...result.problems] : [];
  if (command !== "serve" || rest.length > 0) problems.unshift(`\`${[command, ...rest].join(" ")}\` is not a command; there is \`serve\`.`);
  if (result.kind === "bad" || problems.length > 0) {
    complain("The server was not started:", problems);
    return EXIT_USAGE;
  }
  if (args.printConfig) return print((args.json ? printConfigJson : printConfig)(result.loaded, process.env));
  try {
    return await serve(result.loaded);
  } catch (error) {
    // What a person can mend is said in a sentence; anything else is a bug and shows where.
    const isPlain = error instanceof StartProblem || error instanceof StoreProblem || error instanceof FaultError || isListenProblem(error);
    complain("The server was not started:", [isPlain ? (error as Error).message : String(error instanceof Error ? error.stack : error)]);
    return EXIT_FAILED;
  }
}

const isListenProblem = (error: unknown): boolean => error instanceof Error && error.cause !== undefined;

async function serve(loaded: Parameters<typeof startServer>[0]["loaded"]): Promise<number> {
  let died: ((error: Error) => void) | undefined;
  const death = new Promise<Error>((resolve) => {
    died = resolve;
  });
  const server = await startServer({ loaded, env: process.env, clock: systemClock, died: (error) => died?.(error) });
  server.report.listening(server.url, server.config.service.domain);
  process.stdout.write(welcome(server));
  const signal = new Promise<string>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => resolve(name));
  });
  const why = await Promise.race([signal, death]);
  if (why instanceof Error) {
    server.report.fault("thread", why);
    // Memory may be wrong: what is durable is on disk already, so ending at once is the safe thing.
    process.exit(EXIT_FAILED);
  }
  await server.stop(why);
  return EXIT_OK;
}

function print(text: string): number {
  process.stdout.write(text);
  return EXIT_OK;
}

function complain(title: string, problems: readonly string[]): void {
  process.stderr.write(`${title}\n${problems.map((problem) => `  - ${problem}\n`).join("")}`);
}
