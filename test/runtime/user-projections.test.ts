import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ConfigInvalidError } from "../../src/errors.ts";
import { loadProjections } from "../../src/runtime/user-projections.ts";
import { turnlog } from "../support/command-line.ts";
import { useTestDatabase } from "../support/database.ts";
import { prompt } from "../support/events.ts";
import { startWorker } from "../support/worker-process.ts";

const database = useTestDatabase();
const CONFIG = join(import.meta.dirname, "config", "turnlog.config.mjs");
const scratch = mkdtempSync(join(tmpdir(), "turnlog-config-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** A config file with this text. */
function written(text: string, extension = "mjs"): string {
  const file = join(scratch, `${randomUUID()}.${extension}`);
  writeFileSync(file, text);
  return file;
}

const shape = (name: string, view = name) =>
  `{ name: "${name}", version: 1, tables: [], views: [{ name: "${view}" }], fold() {} }`;

describe("a config file with projections", () => {
  it("is found in the working directory: migrate makes their builds, workers fold them, verify knows them", async () => {
    const { db, store, url } = database();
    const at = { databaseUrl: url, cwd: join(CONFIG, "..") };

    const migrated = await turnlog(["migrate"], at);
    expect(migrated.stdout).toContain("New read tables: prompts.");
    const workers = [
      startWorker("relay", url),
      startWorker("projector", url, "", { TURNLOG_CONFIG: CONFIG }),
    ];
    const id = randomUUID();
    await store.append(id, [prompt("a"), prompt("b")], { expectedSeq: 0 });
    await store.waitFor(id, {
      seq: 1,
      projections: ["prompts"],
      timeoutMs: 30_000,
    });
    await Promise.all(workers.map((worker) => worker.kill("SIGTERM")));

    expect(
      await db.rows({
        text: "select seq, id from turnlog_read.prompts order by seq",
      }),
    ).toEqual([
      { seq: 0, id: "m-a" },
      { seq: 1, id: "m-b" },
    ]);
    const verified = await turnlog(["verify", "prompts", "--all"], at);
    expect(verified.stdout).toMatch(/^prompts .*1 sessions, 2 rows.*equal$/m);
    const without = await turnlog(["verify", "prompts"], { databaseUrl: url });
    expect(without).toMatchObject({ code: 1 });
    expect(without.stderr).toContain("this program does not know it");
  });

  it("adds to the built-in ones", async () => {
    const names = (await loadProjections(CONFIG)).map(({ name }) => name);

    expect(names).toEqual(expect.arrayContaining(["messages", "prompts"]));
    expect((await loadProjections(null)).map(({ name }) => name)).not.toContain(
      "prompts",
    );
  });

  it.each([
    ["that is not there", "/nowhere/turnlog.config.mjs", /can't be loaded/],
    [
      "that throws",
      written('throw new Error("no luck")'),
      /can't be loaded: no luck/,
    ],
    ["without a default", written("export const a = 1"), /must export/],
    [
      "with what is no projection",
      written("export default { projections: [{}] }"),
      /each made by defineProjection/,
    ],
    [
      "with the name of a built-in projection",
      written(`export default { projections: [${shape("usage", "mine")}] }`),
      /there is a projection usage already/,
    ],
    [
      "with the view of another one",
      written(`export default { projections: [${shape("mine", "messages")}] }`),
      /there is a view messages already/,
    ],
    [
      "with one name twice",
      written(
        `export default { projections: [${shape("mine", "a")}, ${shape("mine", "b")}] }`,
      ),
      /there is a projection mine already/,
    ],
  ])("%s is refused by name", async (_what, file, message) => {
    const loading = loadProjections(file);

    await expect(loading).rejects.toBeInstanceOf(ConfigInvalidError);
    await expect(loading).rejects.toThrow(message);
    await expect(loading).rejects.toThrow(file);
  });

  it("is refused at the start of a command, with exit code 2", async () => {
    for (const name of ["turnlog.config.js", "turnlog.config.mjs"])
      writeFileSync(join(scratch, name), "");

    const { code, stderr } = await turnlog(["sessions"], {
      databaseUrl: database().url,
      cwd: scratch,
    });

    expect(code).toBe(2);
    expect(stderr).toMatch(/^turnlog: There are several config files: /);
  });
});
