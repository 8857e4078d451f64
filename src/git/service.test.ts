import { expect, test } from "vitest";
import { advertisementType, readProtocolVersion, readService, requestType, resultType } from "./service.ts";

test("services are read by their exact names", () => {
  expect(readService("git-upload-pack")).toBe("upload-pack");
  expect(readService("git-receive-pack")).toBe("receive-pack");
  for (const other of ["", "upload-pack", "git-upload-pack ", "GIT-UPLOAD-PACK", "git-upload-archive", "git-upload-pack\n"]) {
    expect(readService(other)).toBeUndefined();
  }
});

test("content types are those of smart HTTP", () => {
  expect(advertisementType("upload-pack")).toBe("application/x-git-upload-pack-advertisement");
  expect(requestType("receive-pack")).toBe("application/x-git-receive-pack-request");
  expect(resultType("receive-pack")).toBe("application/x-git-receive-pack-result");
});

test.each([
  [undefined, 0],
  ["", 0],
  ["version=0", 0],
  ["version=1", 1],
  ["version=2", 2],
  ["version=1:version=2", 2],
  ["version=2:key=value", 2],
  ["version=3", 0],
  ["version=22", 0],
  ["Version=2", 0],
  [`version=2:${"x".repeat(300)}`, 0],
])("grasp.md 7.2: Git-Protocol %j is version %d", (header, version) => {
  expect(readProtocolVersion(header)).toBe(version);
});
