import { type Cidr, readCidr, readIp, showCidr } from "../../web/ip.ts";
import type { ValueType } from "./setting.ts";
import { bad, good } from "./value-types.ts";

export interface BindAddress {
  /** An address without brackets, or a host name. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export function showAddress({ host, port }: BindAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

const BIND_EXPECTED = "an address and a port, for example 127.0.0.1:7334 or [::]:7334";

export const bindAddress: ValueType<BindAddress> = {
  describe: "an address and a port",
  read: (written) => {
    const parts = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(written.trim());
    const port = Number(parts?.[3]);
    if (parts === null || port > 65_535) return bad(BIND_EXPECTED);
    const bracketed = parts[1];
    if (bracketed !== undefined) return readIp(bracketed) === undefined ? bad(BIND_EXPECTED) : good({ host: bracketed, port });
    const host = parts[2] ?? "";
    // Digits and dots that are no address are a slip, not a name to look up.
    const slip = /^[\d.]+$/.test(host) && readIp(host) === undefined;
    return slip || !/^[\w.-]+$/.test(host) ? bad(BIND_EXPECTED) : good({ host, port });
  },
  show: showAddress,
};

const DOMAIN_EXPECTED = "a host name with an optional port and nothing else, for example git.example.org";

export const domain: ValueType<string> = {
  describe: "a host name with an optional port",
  read: (written) => {
    const plain = written.trim();
    if (!/^[^\s/?#@\\]{1,260}$/.test(plain) || !URL.canParse(`http://${plain}`)) return bad(DOMAIN_EXPECTED);
    const url = new URL(`http://${plain}`);
    // The parser drops `:80`, but what was written is part of our name.
    const port = /:(\d+)$/.exec(plain.replace(/^\[[^\]]*\]/, ""))?.[1];
    if (url.hostname === "") return bad(DOMAIN_EXPECTED);
    return good(port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`);
  },
  show: (value) => value,
};

const BASE_EXPECTED = "an absolute path of letters, digits, `-`, `_`, `.` and `~`, for example /git";

/** `/`, or `/a/b` without a slash at the end. */
export const basePath: ValueType<string> = {
  describe: "an absolute path",
  read: (written) => {
    const plain = written.trim().replace(/\/+$/, "");
    if (plain === "") return written.trim() === "" ? bad(BASE_EXPECTED) : good("/");
    const segments = plain.split("/").slice(1);
    const fine = plain.startsWith("/") && plain.length <= 200 && segments.every((s) => /^[\w.~-]+$/.test(s) && s !== "." && s !== "..");
    return fine ? good(plain) : bad(BASE_EXPECTED);
  },
  show: (value) => value,
};

export const path: ValueType<string> = {
  describe: "a path",
  read: (written) => (written.trim() === "" || written.includes("\0") ? bad("a path, for example ./data") : good(written)),
  show: (value) => value,
};

export const cidr: ValueType<Cidr> = {
  describe: "an address range such as `10.0.0.0/8` or `fd00::/8`, or one address",
  read: (written) => {
    const range = readCidr(written.trim());
    return range === undefined ? bad("an address range, for example 10.0.0.0/8") : good(range);
  },
  show: showCidr,
};

export const link: ValueType<string> = {
  describe: "an `https:` or `http:` link",
  read: (written) => {
    const fine = URL.canParse(written) && /^https?:$/.test(new URL(written).protocol) && written.length <= 2_000;
    return fine ? good(written) : bad("a link, for example https://git.example.org/icon.png");
  },
  show: (value) => value,
};
