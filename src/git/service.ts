/** The two services of smart HTTP, as git names its programs. */
export type Service = "upload-pack" | "receive-pack";

/** Of `?service=` and of the last part of a path: `git-upload-pack`, `git-receive-pack`; anything else is none. */
export function readService(name: string): Service | undefined {
  if (name === "git-upload-pack") return "upload-pack";
  return name === "git-receive-pack" ? "receive-pack" : undefined;
}

export const advertisementType = (service: Service): string => `application/x-git-${service}-advertisement`;
export const requestType = (service: Service): string => `application/x-git-${service}-request`;
export const resultType = (service: Service): string => `application/x-git-${service}-result`;

export type ProtocolVersion = 0 | 1 | 2;

/** git sends `version=2`; a longer header is none of git's, and is not split. */
const HEADER_LENGTH_MAX = 256;

/** Of a `Git-Protocol` header: parts between colons, of which the highest version that exists counts. */
export function readProtocolVersion(header: string | undefined): ProtocolVersion {
  if (header === undefined || header.length > HEADER_LENGTH_MAX) return 0;
  const parts = header.split(":");
  if (parts.includes("version=2")) return 2;
  return parts.includes("version=1") ? 1 : 0;
}
