import { randomUUID } from "node:crypto";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  findLogs,
  logPath,
  requirePlace,
} from "../../src/io/session-folders.ts";
import { parseHeader, type SessionHeader } from "../../src/events/header.ts";
import { useLogFolder } from "./log-files.ts";

const folder = useLogFolder();

function headerOf(id: string, cwd?: string): SessionHeader {
  return parseHeader({
    version: 0,
    id,
    createdAt: 1,
    delegationDepth: 0,
    ...(cwd === undefined ? {} : { cwd }),
  });
}

async function rootWith(...files: readonly string[]): Promise<string> {
  const root = folder.path(randomUUID());
  await mkdir(root, { recursive: true });
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), "");
  }
  return root;
}

describe("the place of a log", () => {
  it.each<[string, string | undefined, string]>([
    ["a/b~é", "/home/me/x y", "--home-me-x~0020y--/a~002Fb~007E~00E9"],
    ["s1", undefined, "_no-cwd/s1"],
    ["s1", "/", "--root--/s1"],
    ["s1", "C:\\work\\app", "--C-work-app--/s1"],
    ["s1", "//server//share/", "--server-share---/s1"],
    [".", "/a:/b", "--a-b--/~002E"],
    ["..", "/-x", "--x--/~002E~002E"],
    ["...", "/x", "--x--/..."],
    ["😀", "/~", "--~007E--/~D83D~DE00"],
  ])("of session %s in %s is %s", (id, cwd, place) => {
    const path = logPath("/r", headerOf(id, cwd), "session.jsonl");

    expect(path).toBe(`/r/${place}/session.jsonl`);
  });

  it("has a name of bounded length for its project", () => {
    const path = logPath(
      "/r",
      headerOf("s", `/${"x".repeat(400)}`),
      "session.jsonl",
    );

    expect(path).toBe(`/r/--${"x".repeat(251)}--/s/session.jsonl`);
  });

  it("is the one that the header says, or the log is refused", () => {
    const header = headerOf("s1", "/w");

    expect(() =>
      requirePlace("/r/--w--/s1/session.jsonl", header),
    ).not.toThrow();
    for (const wrong of ["/r/--w--/s2", "/r/--v--/s1", "/s1"])
      expect(() => requirePlace(`${wrong}/session.jsonl`, header)).toThrow(
        "the log belongs in --w--/s1",
      );
  });
});

describe("the logs below a folder", () => {
  it("are found from the root, from a project and from a session, in order", async () => {
    const root = await rootWith(
      "--w--/b/session.jsonl.zstd",
      "--w--/a/session.jsonl",
      "_no-cwd/c/session.jsonl",
    );
    const logs = [
      "--w--/a/session.jsonl",
      "--w--/b/session.jsonl.zstd",
      "_no-cwd/c/session.jsonl",
    ].map((path) => join(root, path));

    expect((await findLogs(root)).logs).toEqual(logs);
    expect((await findLogs(join(root, "--w--"))).logs).toEqual(
      logs.slice(0, 2),
    );
    expect((await findLogs(join(root, "--w--", "a"))).logs).toEqual(
      logs.slice(0, 1),
    );
  });

  it("are no others: logs at other places are strays, and links are; other files are nothing", async () => {
    const root = await rootWith(
      "flat.jsonl",
      "--w--/flat.jsonl.zstd",
      "--w--/a/other.jsonl",
      "--w--/a/notes.txt",
      "--w--/a/deep/session.jsonl",
    );
    await symlink(root, join(root, "loop"));

    const { logs, strays } = await findLogs(root);

    expect(logs).toEqual([]);
    expect(strays).toEqual(
      [
        "--w--/a/deep/session.jsonl",
        "--w--/a/other.jsonl",
        "--w--/flat.jsonl.zstd",
        "flat.jsonl",
        "loop",
      ].map((path) => join(root, path)),
    );
  });

  it("are doubles where a session has several: in two projects, or in both encodings", async () => {
    const root = await rootWith(
      "--v--/a/session.jsonl",
      "--w--/a/session.jsonl",
      "--w--/b/session.jsonl",
      "--w--/b/session.jsonl.zstd",
      "--w--/c/session.jsonl",
    );

    const { doubles, logs } = await findLogs(root);

    expect(logs.map((log) => doubles.has(log))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it("can't be found below a folder that is not there", async () => {
    const none = folder.path("none");

    const { logs, unreadable } = await findLogs(none);

    expect(logs).toEqual([]);
    expect(unreadable.get(none)).toMatchObject({
      code: "FILE_UNREADABLE",
      message: "the folder can't be read (ENOENT)",
    });
  });
});
