import { describe, expect, it } from "vitest";
import { migrate, pendingMigrations } from "../../src/db/migrate.ts";
import { turnlog } from "../support/command-line.ts";
import { freshDatabase } from "../support/database.ts";

describe("a database without our schema", () => {
  it("is told how to get it, and is not changed", async () => {
    await using fresh = await freshDatabase({ isEmpty: true });
    const { url: databaseUrl } = fresh;

    const results = [
      await turnlog(["status"], { databaseUrl }),
      await turnlog(["import", "examples/sessions/01-fix-failing-test.jsonl"], {
        databaseUrl,
      }),
      await turnlog(["start"], { databaseUrl }),
    ];

    for (const { code, stderr } of results) {
      expect(code).toBe(1);
      expect(stderr).toBe(
        "turnlog: The database has no Turnlog schema yet. Create it with: turnlog migrate\n",
      );
    }
    expect(
      await fresh.db.rows({
        text: "select from pg_namespace where nspname like 'turnlog%'",
      }),
    ).toEqual([]);
  });

  it("is brought up to date by migrate, by several at once too", async () => {
    await using fresh = await freshDatabase({ isEmpty: true });
    const { url: databaseUrl } = fresh;
    const count = (await pendingMigrations(fresh.db)).length;
    const dry = await turnlog(["migrate", "--dry-run"], { databaseUrl });

    const results = await Promise.all(
      [0, 1].map(() => turnlog(["migrate", "--json"], { databaseUrl })),
    );

    expect(dry.stdout).toContain("create function turnlog.append_v1");
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    const reports = results.map(({ stdout }) => JSON.parse(stdout));
    expect(new Set(reports.map(({ applied }) => applied))).toEqual(
      new Set([0, count]),
    );
    expect((await turnlog(["status"], { databaseUrl })).code).toBe(0);
  });

  it("is migrated once when many processes start", async () => {
    await using fresh = await freshDatabase({ isEmpty: true });
    const count = (await pendingMigrations(fresh.db)).length;

    const applied = await Promise.all(
      [0, 1, 2, 3].map(() => migrate(fresh.db)),
    );

    expect(count).toBeGreaterThan(0);
    expect(applied.filter((result) => result.applied === count)).toHaveLength(
      1,
    );
    expect(applied.filter((result) => result.applied === 0)).toHaveLength(3);
  });
});
