import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/db/package-root.ts";
import { turnlog } from "../support/command-line.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect } from "../support/events.ts";
import { exampleFiles } from "../support/logs.ts";
import { catchUp } from "../support/pipeline.ts";
import { readLog } from "../support/reference-log.ts";

const database = useTestDatabase();
const example = join(packageRoot(), "examples/sessions/04-compaction.jsonl");
const { id } = readLog(example).header;

const run = (...args: readonly string[]) =>
  turnlog(args, { databaseUrl: database().url });

beforeAll(async () => {
  await run("import", ...exampleFiles());
  await catchUp(database().db);
});

describe("every command", () => {
  it.each([
    "start",
    "demo",
    "migrate",
    "import",
    "export",
    "check",
    "sessions",
    "events",
    "messages",
    "usage",
    "status",
  ])(
    "%s explains itself with --help, --json and --database-url among the options",
    async (command) => {
      const { code, stdout } = await turnlog([command, "--help"]);

      expect(code).toBe(0);
      expect(stdout).toContain("--json");
      expect(stdout).toContain("--database-url");
    },
  );
});

describe("import", () => {
  it("says of a file that is stored already that it is unchanged", async () => {
    const { code, stdout } = await run("import", example);

    expect(code).toBe(0);
    expect(stdout).toContain("unchanged");
    expect(stdout).toContain("0 events appended from 1 file.");
  });

  it("names a refused file on one line, goes on with the others, and fails", async () => {
    const { code, stdout, stderr } = await run(
      "import",
      "package.json",
      example,
      "missing.jsonl",
    );

    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").toSorted()).toEqual([
      "missing.jsonl: refused: there is no such file, or it can't be read",
      "package.json:1: refused: the header line is not JSON",
    ]);
    expect(stdout).toContain("unchanged");
  });

  it("prints its reports as JSON", async () => {
    const { stdout } = await run("import", "--json", example);

    expect(JSON.parse(stdout)).toMatchObject([
      { outcome: "unchanged", sessionId: id, line: null },
    ]);
  });

  it("tells that nobody folds when no relay runs", async () => {
    const { db } = database();
    await db.rows({ text: "update turnlog.lease set until = now()" });
    const { stderr } = await run(
      "import",
      join(packageRoot(), "test/cli/one-event.jsonl"),
    );

    expect(stderr).toContain("turnlog start");
  });
});

describe("reading commands", () => {
  it("sessions lists every session with its title", async () => {
    const { code, stdout } = await run("sessions");

    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.includes(id))).toHaveLength(
      1,
    );
    expect(JSON.parse((await run("sessions", "--json")).stdout)).toHaveLength(
      10,
    );
  });

  it("events --json gives the log back byte for byte, and takes a range", async () => {
    const { stdout } = await run("events", id, "--json");
    const range = await run(
      "events",
      id,
      "--json",
      "--from",
      "3",
      "--limit",
      "2",
    );

    const lines = (await collect(database().store, id)).map((event) =>
      JSON.stringify(event),
    );
    expect(stdout.trimEnd().split("\n")).toEqual(lines);
    expect(range.stdout.trimEnd().split("\n")).toEqual(lines.slice(3, 5));
  });

  it("messages shows the surface, and the transcript when asked", async () => {
    const surface = JSON.parse((await run("messages", id, "--json")).stdout);
    const transcript = JSON.parse(
      (await run("messages", id, "--json", "--transcript")).stdout,
    );

    expect(
      surface.rows.every((row: { onSurface: boolean }) => row.onSurface),
    ).toBe(true);
    expect(transcript.rows.length).toBeGreaterThan(surface.rows.length);
    expect((await run("messages", id)).stdout).toContain(
      `as of seq ${surface.asOfSeq}.`,
    );
  });

  it("usage sums a session, or all of them", async () => {
    const all = JSON.parse((await run("usage", "--json")).stdout);
    const one = JSON.parse((await run("usage", id, "--json")).stdout);

    expect(all).toHaveLength(10);
    expect(one.stats).toEqual(
      all.filter((row: { sessionId: string }) => row.sessionId === id),
    );
    expect(
      one.rows.some((row: { kind: string }) => row.kind === "compaction"),
    ).toBe(true);
  });

  it("status shows each hop, with a lag of 0 when all is folded", async () => {
    const { code, stdout } = await run("status");

    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^outbox +\d+ appends waiting(, the oldest for [\d,]+ ms)?$/m,
    );
    expect(stdout).toMatch(/^messages +1 /m);
    expect(JSON.parse((await run("status", "--json")).stdout)).toMatchObject({
      projections: expect.any(Array),
    });
  });

  it("migrate finds nothing to do on a database that is up to date", async () => {
    expect((await run("migrate")).stdout).toContain("up to date");
    expect((await run("migrate", "--dry-run")).stdout).toBe(
      "-- nothing to apply\n",
    );
  });
});

describe("check", () => {
  it("finds nothing in a stored log and in the file it came from", async () => {
    expect(await run("check", id)).toMatchObject({
      code: 0,
      stdout: "1,306 events, 0 findings.\n",
    });
    expect(await turnlog(["check", example])).toMatchObject({
      code: 0,
      stdout: "1,306 events, 0 findings.\n",
    });
  });

  it("names every broken rule of a file with its line, goes on after a gap, and fails", async () => {
    const { code, stdout } = await turnlog([
      "check",
      join(packageRoot(), "test/cli/broken.jsonl"),
    ]);

    expect(code).toBe(1);
    expect(stdout.split("\n")).toEqual([
      "line 3, seq 1 turn/start: data.turn starts a turn while turn 1 is open [turn-order]",
      "line 4, seq is 4, but seq 2 comes next [seq]",
      "line 4, seq 4 feedback/record: data.text must be a string [data-shape]",
      "5 events, 3 findings.",
      "",
    ]);
  });

  it("replaces a wrong state beside a stored log when asked to", async () => {
    const { db } = database();
    await db.rows(
      {
        text: "update turnlog.sessions set state = '{}' where session_id = $1",
      },
      [id],
    );
    const found = await run("check", id);
    const fixed = await run("check", id, "--fix-state");
    const again = await run("check", id);

    expect(found.stdout).toContain("is not what its log leaves [state]");
    expect([found.code, fixed.code, again.code]).toEqual([1, 0, 0]);
    expect(fixed.stdout).toContain("The state has been replaced.");
  });

  it.each([
    [
      "a file that is not there",
      ["check", "./missing.jsonl"],
      1,
      "can't be read (ENOENT)",
    ],
    [
      "a state of a file",
      ["check", example, "--fix-state"],
      2,
      "a file has no state",
    ],
  ])("says of %s what is wrong", async (_what, args, code, text) => {
    const result = await turnlog(args);

    expect(result.code).toBe(code);
    expect(result.stdout + result.stderr).toContain(text);
  });
});

describe("sessions", () => {
  it("shows no control characters of a title (they would move the cursor)", async () => {
    const { db, store } = database();
    const session = randomUUID();
    const title = {
      title: "\u001b[2Jred\u0007",
      messageSeqs: [],
      source: { kind: "user" },
    };
    await store.append(session, [{ type: "session/title", data: title }], {
      expectedSeq: 0,
    });
    await catchUp(db);

    const { stdout } = await run("sessions");

    expect(stdout).toContain("\uFFFD[2Jred\uFFFD");
    expect(stdout).not.toContain("\u001b");
  });
});

describe("bad input gets one line that says what to do, and changes nothing", () => {
  it.each<[string, readonly string[], string | undefined, number, RegExp]>([
    [
      "a malformed URL",
      ["status"],
      "not a url",
      2,
      /TURNLOG_DATABASE_URL: must be postgres:/,
    ],
    [
      "a URL of something else",
      ["status", "--database-url", "http://x/y"],
      undefined,
      2,
      /must be postgres:/,
    ],
    [
      "an unreachable server",
      ["status"],
      "postgres://u:p@127.0.0.1:1/x",
      1,
      /ECONNREFUSED.*Is the server running/,
    ],
    [
      "an unknown host",
      ["status"],
      "postgres://u:p@no-such-host.invalid/x",
      1,
      /not available/,
    ],
    [
      "an unknown option",
      ["status", "--nonsense"],
      undefined,
      2,
      /unknown option '--nonsense'/,
    ],
    [
      "an unknown command",
      ["explode"],
      undefined,
      2,
      /unknown command 'explode'/,
    ],
    [
      "a missing argument",
      ["events"],
      undefined,
      2,
      /missing required argument 'session'/,
    ],
    [
      "a limit that is no number",
      ["sessions", "--limit", "many"],
      undefined,
      2,
      /whole number/,
    ],
  ])("%s", async (_what, args, databaseUrl, code, message) => {
    const result = await turnlog(
      args,
      databaseUrl === undefined ? {} : { databaseUrl },
    );

    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toMatch(/^\s+at /m);
    expect(result.code).toBe(code);
  });

  it.each(["events", "messages", "usage"])(
    "an unknown session (%s)",
    async (command) => {
      const { code, stderr } = await run(command, randomUUID());

      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^turnlog: There is no session .*turnlog sessions\n$/,
      );
    },
  );

  it("an empty session id", async () => {
    expect(await run("events", "")).toMatchObject({ code: 2 });
  });

  it("a database that does not exist, or a wrong password", async () => {
    const missing = new URL(database().url);
    missing.pathname = "/no_such_database";
    const { code, stderr } = await turnlog(["status"], {
      databaseUrl: missing.href,
    });

    expect(code).toBe(1);
    expect(stderr).toMatch(/no_such_database.*does not exist/);
  });

  it("a database of a newer version", async () => {
    const { db } = database();
    await db.rows({
      text: "update turnlog.schema set min_client_version = 99",
    });
    const status = await run("status");
    const migrate = await run("migrate");
    await db.rows({ text: "update turnlog.schema set min_client_version = 1" });

    expect([status.code, migrate.code]).toEqual([1, 1]);
    expect(status.stderr).toMatch(
      /asks for clients of schema version 99.*Upgrade turnlog/,
    );
  });
});
