/** What is left after a kill -9 of the server, of its user or of a half-done start, and after a reboot. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdir,
  readdir,
  readFile,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { isRoot } from "../../src/embedded/account.ts";
import { queryOne } from "./query.ts";
import {
  hold,
  killServer,
  newDirectory,
  newProject,
  spawnHolder,
  start,
} from "./workspace.ts";

it("recovers after a kill -9 of the server, which does not take its user down", async () => {
  const directory = await newProject();
  const first = await start(directory);
  await queryOne(first.databaseUrl, "create table kept as select 42 as answer");
  await killServer(first.dataDirectory);

  const second = await start(directory);

  expect(second.adopted).toBe(false);
  expect(await queryOne(second.databaseUrl, "table kept")).toBe("42");
  await first.close();
  expect(await queryOne(second.databaseUrl, "table kept")).toBe("42");
});

it("adopts the server that a killed process left, and stops it in the end", async () => {
  const directory = await newProject();
  const killed = await hold(directory);
  killed.child.kill("SIGKILL");
  await once(killed.child, "exit");

  const heir = await start(directory);

  expect(heir.adopted).toBe(true);
  expect(heir.databaseUrl).toBe(killed.databaseUrl);
  await heir.close();
  await expect(queryOne(heir.databaseUrl, "select 1")).rejects.toMatchObject({
    code: "ECONNREFUSED",
  });
});

it("starts over after a start that was killed in the middle of initdb", async () => {
  const directory = await newDirectory();
  const child = spawnHolder(directory);
  await vi.waitFor(
    async () =>
      expect(await readdir(directory)).toContainEqual(
        expect.stringContaining("postgres.new-"),
      ),
    { timeout: 10_000, interval: 5 },
  );
  child.kill("SIGKILL");
  await once(child, "exit");

  const { databaseUrl } = await start(directory);

  expect(await queryOne(databaseUrl, "select 1")).toBe("1");
});

it("removes what killed starts left half made, and nothing else", async () => {
  const directory = await newProject();
  const child = spawn(process.execPath, ["--version"]);
  await once(child, "exit");
  await mkdir(join(directory, `postgres.new-${child.pid}-0123abcd`, "base"), {
    recursive: true,
  });
  await mkdir(join(directory, `postgres.new-${process.pid}-0123abcd`));
  await mkdir(join(directory, "sessions"));

  await start(directory);

  expect((await readdir(directory)).toSorted()).toEqual([
    "password",
    "postgres",
    "postgres.log",
    `postgres.new-${process.pid}-0123abcd`,
    "sessions",
  ]);
});

it("stays registered when its connection is cut, so that others don't stop the server", async () => {
  const directory = await newProject();
  const { databaseUrl } = await start(directory);
  const anchors =
    "select count(*) from pg_stat_activity where application_name = 'turnlog-embedded'";
  await queryOne(
    databaseUrl,
    anchors.replace("count(*)", "pg_terminate_backend(pid, 5000)"),
  );
  await vi.waitFor(
    async () => expect(await queryOne(databaseUrl, anchors)).toBe("1"),
    { timeout: 5_000 },
  );

  const other = await start(directory);
  await other.close();

  expect(await queryOne(databaseUrl, "select 1")).toBe("1");
});

it("is not led astray by another server on the port of one that crashed", async () => {
  const directory = await newProject();
  const dataDirectory = await crash(directory);
  const stranger = await start(await newProject());
  const { port } = new URL(stranger.databaseUrl);
  await rewriteLockFile(dataDirectory, { line: 3, text: port });

  const server = await start(directory);

  expect(server.adopted).toBe(false);
  expect(server.databaseUrl).not.toBe(stranger.databaseUrl);
});

it.skipIf(!isRoot())(
  "ignores the lock file of a dead server whose process id another user's process has now (needs root)",
  async () => {
    const directory = await newProject();
    const dataDirectory = await crash(directory);
    await rewriteLockFile(dataDirectory, {
      line: 0,
      text: String(process.pid),
    });

    const { adopted } = await start(directory);

    expect(adopted).toBe(false);
  },
);

it.skipIf(process.platform !== "linux")(
  "ignores the lock file of a dead server whose process id another program of the same user has now (needs Linux)",
  async () => {
    const directory = await newProject();
    const dataDirectory = await crash(directory);
    const { uid, gid } = await stat(dataDirectory);
    const other = spawn("sleep", ["60"], { uid, gid });
    await rewriteLockFile(dataDirectory, {
      line: 0,
      text: String(other.pid),
    });

    const { adopted } = await start(directory);

    expect(adopted).toBe(false);
    expect(other.kill()).toBe(true);
  },
);

it("ignores a lock file that a power cut left empty", async () => {
  const directory = await newProject();
  const dataDirectory = await crash(directory);
  await writeFile(lockFileOf(dataDirectory), "");
  await utimes(lockFileOf(dataDirectory), 0, 0);

  const { adopted } = await start(directory);

  expect(adopted).toBe(false);
});

/** Leaves a cluster whose server was killed; returns its data directory. */
async function crash(directory: string): Promise<string> {
  const server = await start(directory);
  await killServer(server.dataDirectory);
  await server.close();
  return server.dataDirectory;
}

function lockFileOf(dataDirectory: string): string {
  return join(dataDirectory, "postmaster.pid");
}

async function rewriteLockFile(
  dataDirectory: string,
  change: { line: number; text: string },
): Promise<void> {
  const text = await readFile(lockFileOf(dataDirectory), "utf8");
  const lines = text.split("\n").with(change.line, change.text);
  await writeFile(lockFileOf(dataDirectory), lines.join("\n"));
}
