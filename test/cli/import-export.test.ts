import { randomUUID } from "node:crypto";
import {
  copyFile,
  lstat,
  mkdir,
  readFile,
  readdir,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/db/package-root.ts";
import { bash, turnlog } from "../support/command-line.ts";
import { freshDatabase, useTestDatabase } from "../support/database.ts";
import { readLog } from "../support/reference-log.ts";
import {
  header,
  prompt,
  stepStart,
  textOf,
  turnStart,
  useLogFolder,
} from "../io/log-files.ts";

const database = useTestDatabase();
const folder = useLogFolder();
const example = join(packageRoot(), "examples/sessions/04-compaction.jsonl");
const log = readLog(example);
const { id } = log.header;

const inBash = (script: string) =>
  bash(script, { databaseUrl: database().url });

const run = (...args: readonly string[]) =>
  turnlog(args, { databaseUrl: database().url });

beforeAll(async () => {
  await run("import", example);
});

describe("export", () => {
  it("prints one session to stdout, packed as the file was", async () => {
    const { code, stdout } = await run("export", id);

    expect(code).toBe(0);
    expect(stdout).toBe(await readFile(example, "utf8"));
  });

  it("prints each delta on a line of its own with --unpacked", async () => {
    const { stdout } = await run("export", "--unpacked", id);

    expect(stdout).toBe(
      textOf({ type: "session", ...log.header }, ...log.events),
    );
  });

  it("writes a file, and does not overwrite it without --force", async () => {
    const file = folder.path(`${randomUUID()}.jsonl`);

    const first = await run("export", "--json", "--file", file, id);
    const second = await run("export", "--file", file, id);
    const third = await run("export", "--force", "--file", file, id);

    const text = await readFile(file, "utf8");
    expect(JSON.parse(first.stdout)).toEqual([
      { sessionId: id, file, bytes: Buffer.byteLength(text) },
    ]);
    expect(text).toBe(await readFile(example, "utf8"));
    expect([first.code, second.code, third.code]).toEqual([0, 1, 0]);
    expect(second.stderr).toContain("--force");
  });

  it("writes all sessions into folders that import takes back", async () => {
    await using other = await freshDatabase();
    const root = folder.path(randomUUID());

    const exported = await run("export", "--all", "--zstd", "--folder", root);
    const imported = await turnlog(["import", "--json", root], {
      databaseUrl: other.url,
    });

    expect(exported.code).toBe(0);
    expect(JSON.parse(imported.stdout)).toMatchObject([
      { outcome: "imported", sessionId: id, events: log.events.length },
    ]);
    const { stdout } = await turnlog(["export", id], {
      databaseUrl: other.url,
    });
    expect(stdout).toBe(await readFile(example, "utf8"));
  });

  it("is read no further than its reader likes, which is no failure", async () => {
    const { stdout, stderr } = await inBash(
      `turnlog export --unpacked ${id} | head -1; echo "\${PIPESTATUS[0]}"`,
    );

    const [first = "", code] = stdout.trimEnd().split("\n");
    expect(JSON.parse(first)).toMatchObject({ type: "session", id });
    expect([code, stderr]).toEqual(["0", ""]);
  });

  it.each(["--file", ">"])(
    "fails where the system takes a part of the bytes only (%s)",
    async (target) => {
      const file = folder.path(randomUUID());

      const { stdout, stderr } = await inBash(
        `ulimit -f 8; turnlog export --unpacked ${id} ${target} '${file}'; echo "$?"`,
      );

      expect(stdout).toBe("1\n");
      expect(stderr).toMatch(/^turnlog: .* can't be written \(EFBIG\)/);
    },
  );

  it("overwrites what a link points to, and no folder or device", async () => {
    const [target, link] = [
      folder.path(randomUUID()),
      folder.path(randomUUID()),
    ];
    await writeFile(target, "old");
    await symlink(target, link);

    const linked = await run("export", "--force", "--file", link, id);
    const refused = await run("export", "--force", "--file", "/dev/null", id);

    expect(linked.code).toBe(0);
    expect(await readFile(target, "utf8")).toBe(
      await readFile(example, "utf8"),
    );
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("it is not a file");
  });

  it("leaves one log of a session in a folder", async () => {
    const root = folder.path(randomUUID());

    const plain = await run("export", "--json", "--folder", root, id);
    const refused = await run("export", "--zstd", "--folder", root, id);
    const forced = await run(
      "export",
      "--zstd",
      "--force",
      "--folder",
      root,
      id,
    );

    const [{ file }] = JSON.parse(plain.stdout);
    expect([plain.code, refused.code, forced.code]).toEqual([0, 1, 0]);
    expect(await readdir(dirname(file))).toEqual(["session.jsonl.zstd"]);
  });

  it("goes on after a session that is not there, and fails", async () => {
    const root = folder.path(randomUUID());

    const { code, stderr, stdout } = await run(
      "export",
      "--folder",
      root,
      "nobody",
      id,
    );

    expect(code).toBe(1);
    expect(stderr).toContain("nobody: not exported: There is no session");
    expect(stdout).toContain(id);
    expect(await readdir(root)).toHaveLength(1);
  });

  it.each([
    ["nothing named", []],
    ["--all beside a session", ["--all", id]],
    ["several sessions and no folder", [id, "other"]],
    ["all and no folder", ["--all"]],
    ["a file and a folder", ["--file", "a", "--folder", "b", id]],
  ])("is wrong usage with %s", async (_what, args) => {
    const { code, stderr } = await run("export", ...args);

    expect(code).toBe(2);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

describe("import", () => {
  it("of a dry run says what would be appended, and stores nothing", async () => {
    await using other = await freshDatabase();

    const { code, stdout } = await turnlog(["import", "--dry-run", example], {
      databaseUrl: other.url,
    });

    expect(code).toBe(0);
    expect(stdout).toContain("imported");
    expect(stdout).toContain(
      `${log.events.length.toLocaleString("en-US")} events would be appended from 1 file.`,
    );
    expect(
      await other.db.rows({ text: "select from turnlog.sessions" }),
    ).toEqual([]);
  });

  it("refuses a log that breaks rules with the way to take it, and check shows what was accepted", async () => {
    const odd = randomUUID();
    const file = await folder.write(header(odd), turnStart, {
      ...turnStart,
      seq: 1,
    });

    const refused = await run("import", file);
    const accepted = await run("import", "--allow-findings", file);
    const check = await run("check", odd);

    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`${file}:3: refused: `);
    expect(refused.stderr).toContain("--allow-findings");
    expect(accepted.code).toBe(0);
    expect(accepted.stderr).toContain("1 finding accepted");
    expect(check.code).toBe(0);
    expect(check.stdout).toContain("(accepted at import)");
  });

  it("says where a torn tail begins", async () => {
    const file = await folder.writeBytes(
      `${textOf(header(randomUUID()), turnStart)}{"type":"step`,
    );

    const { code, stderr } = await run("import", file);

    expect(code).toBe(0);
    expect(stderr).toContain(`${file}:3: the tail from this line on is torn`);
  });

  it("of a folder takes each log at its place, and says what it passes over", async () => {
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    const root = folder.path(randomUUID());
    const source = await folder.write(header(a), turnStart, stepStart, prompt);
    await run("import", source);
    await run("export", "--folder", root, a);
    const place = join(root, "--w--");
    await mkdir(join(place, b));
    await copyFile(source, join(place, b, "session.jsonl"));
    await mkdir(join(place, c));
    for (const name of ["session.jsonl", "session.jsonl.zstd"])
      await writeFile(join(place, c, name), textOf(header(c), turnStart));
    await writeFile(join(root, "old.jsonl"), "");

    const { code, stdout, stderr } = await run("import", "--json", root);

    const reports: { file: string; outcome: string; code: string | null }[] =
      JSON.parse(stdout);
    expect(code).toBe(1);
    expect(stderr).toContain("old.jsonl: not where the folder layout");
    expect(
      reports.map(({ file, outcome, code: why }) => [
        file.slice(place.length + 1).split("/")[0],
        outcome,
        why,
      ]),
    ).toEqual(
      [
        [a, "unchanged", null],
        [b, "refused", "WRONG_FOLDER"],
        [c, "refused", "SEVERAL_LOGS"],
        [c, "refused", "SEVERAL_LOGS"],
      ].toSorted(([one], [two]) => (String(one) < String(two) ? -1 : 1)),
    );
  });

  it.each(["0", "-1", "x"])(
    "refuses to import %s files at a time",
    async (files) => {
      const { code } = await run("import", "--concurrency", files, example);

      expect(code).toBe(2);
    },
  );
});
