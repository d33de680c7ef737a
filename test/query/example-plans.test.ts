import { beforeAll, describe, expect, it } from "vitest";
import { exampleQueries } from "../../scripts/example-queries.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { appendLog } from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { copySession } from "../support/many-sessions.ts";
import { catchUp } from "../support/pipeline.ts";
import { exampleLog, schemaOf } from "../support/projector-steps.ts";

const SESSIONS = 10_000;
/** Scans of an index that holds failures alone. */
const PARTIAL =
  /Index (Only )?Scan using checkpoints_(next|parked)_at_idx on checkpoints\S*/g;
const database = useTestDatabase();

/** A session that has rows in every table, copied ten thousand times. */
beforeAll(async () => {
  const { db, store } = database();
  const log = exampleLog("06-interrupted-turn.jsonl");
  const { header } = await appendLog(store, log, 500);
  await catchUp(db);
  await copySession(db, header.id, SESSIONS);
  await db.rows({
    text: `
      update ${await schemaOf(db, "sessions")}.sessions
      set parent_session_id = 'session ' || substr(session_id, 9)::integer / 10
      where session_id like 'session %'`,
  });
  await db.rows({
    text: `
      update turnlog.checkpoints set parked_at = now(), error_code = 'X'
      where session_id like 'session 1__' and build = 1`,
  });
}, 60_000);

/** The plan as the planner would have it by itself. */
async function planOf(sql: string): Promise<string> {
  const rows = await database().db.rows<{ "QUERY PLAN": string }>({
    text: `explain (costs off) ${sql.replaceAll("$1", "'session 77'")}`,
  });
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

const queries = Object.entries(exampleQueries).flatMap(([view, examples]) =>
  examples.map(({ about, sql }) => [`${view}: ${about}`, sql] as const),
);

/** Views with a row for each session at least. */
const ofSessions = builtInProjections
  .flatMap(({ views }) => views.map(({ name }) => name))
  .filter((name) => !name.startsWith("usage_by"));

describe("with ten thousand sessions", () => {
  it.each(ofSessions)("the view %s is that large", async (view) => {
    const [row] = await database().db.rows<{ rows: number }>({
      text: `select count(*) as rows from turnlog_read.${view}`,
    });

    expect(row?.rows).toBeGreaterThan(SESSIONS);
  });

  it.each(queries.filter(([, sql]) => sql.includes("$1")))(
    "%s, answers from indexes",
    async (_what, sql) => {
      const plan = await planOf(sql);

      expect(plan).toMatch(/Index (Only )?Scan|Bitmap Index Scan/);
      // Builds are a handful of rows, whatever the number of sessions.
      expect(plan.replaceAll("Seq Scan on builds", "")).not.toContain(
        "Seq Scan",
      );
      // An index that is read from end to end is no better.
      expect(plan.replaceAll(PARTIAL, "")).not.toMatch(
        /Index (Only )?Scan[^\n]*\n(?! +(Index|Recheck) Cond)/,
      );
    },
  );

  it("a page of the list is read from the end of an index, without a sort", async () => {
    const [page] = exampleQueries["sessions"] ?? [];
    const plan = await planOf(page?.sql ?? "");

    expect(plan).toContain(
      "Index Scan Backward using sessions_activity_ms_session_id_idx",
    );
    expect(plan).not.toMatch(/Seq Scan|Sort/);
  });

  it.each(["projection_status", "parked"])(
    "the view %s looks up the sessions that it is about, and no others",
    async (view) => {
      const rows = await database().db.rows<{ "QUERY PLAN": string }>({
        text: `explain (analyze, costs off, timing off, summary off) select * from turnlog_read.${view}`,
      });
      const steps = rows.map((row) => row["QUERY PLAN"]);

      // The branch for builds that are being made stands in the plan, and is not run.
      const run = steps.filter((step) => !step.includes("never executed"));
      expect(run.join("\n")).not.toMatch(/Seq Scan on (sessions|checkpoints)/);
    },
  );

  it.each(queries.filter(([what]) => !what.startsWith("events: ")))(
    "%s, reads no log",
    async (_what, sql) => {
      expect(await planOf(sql)).not.toMatch(/ on events\b/);
    },
  );
});
