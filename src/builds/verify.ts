/** Is a new build what the log gives? Asked before the views are pointed at it. */
import type { Db } from "../db/connect.ts";
import { BuildVerifyFailedError } from "../errors.ts";
import { compareDigests } from "./digests.ts";
import { refuseFailures } from "./failures.ts";
import type { NewBuild, Rebuild } from "./rebuild-row.ts";
import { findMisfolded } from "./refold.ts";

/** Sessions that are folded once more, and their events together, at most (but for the first one). */
const SAMPLE_SESSIONS = 50;
const SAMPLE_EVENTS = 200_000;

export interface Verification {
  readonly projection: string;
  readonly build: number;
  /** Sessions that were folded once more, and found equal. */
  readonly sampledSessions: number;
  /**
   * Sessions in which the live build of the same version holds other rows than the new one, which the log is on the side
   * of. Null where versions differ, or there is no live build.
   */
  readonly driftedSessions: number | null;
}

/**
 * Compares each new build with the live one of the same version, session by session, and folds a sample and the first
 * sessions that differ once more.
 * @throws BuildVerifyFailedError
 */
export async function verifyBuilds(
  db: Db,
  rebuild: Rebuild,
): Promise<readonly Verification[]> {
  await refuseFailures(db, rebuild.builds);
  const results: Verification[] = [];
  for (const build of rebuild.builds)
    results.push(await verifyBuild(db, rebuild.number, build));
  return results;
}

async function verifyBuild(
  db: Db,
  rebuild: number,
  build: NewBuild,
): Promise<Verification> {
  const live = await readLive(db, build);
  const differing =
    live === null ? null : await compareDigests(db, rebuild, build, live);
  const sample = await sampleSessions(db, build.build);
  const sessionIds = [
    ...new Set([...(differing?.sessionIds ?? []), ...sample]),
  ];
  const misfolded = await findMisfolded(db, build, sessionIds);
  const [sessionId] = misfolded;
  if (sessionId !== undefined)
    throw new BuildVerifyFailedError({
      projection: build.projection.name,
      build: build.build,
      sessionId,
      seq: null,
      errorCode: null,
      sessions: misfolded.length,
    });
  return {
    projection: build.projection.name,
    build: build.build,
    sampledSessions: sessionIds.length,
    driftedSessions: differing?.count ?? null,
  };
}

/** Number of the live build of the same version. */
async function readLive(
  db: Db,
  { projection }: NewBuild,
): Promise<number | null> {
  const [row] = await db.rows<{ number: number }>(
    {
      text: "select number from turnlog.builds where projection = $1 and version = $2 and status = 'live'",
    },
    [projection.name, projection.version],
  );
  return row?.number ?? null;
}

/** Sessions that chance picks, another choice for each build. */
async function sampleSessions(
  db: Db,
  build: number,
): Promise<readonly string[]> {
  const rows = await db.rows<{ session_id: string }>(
    {
      text: `
        select session_id
        from (
          select session_id, facts_head, row_number() over w as n, sum(facts_head) over w as events
          from (
            select session_id, facts_head, md5(session_id || $1::text) as at
            from turnlog.sessions
            where deleted_at is null and facts_head > 0
            order by at
            limit $2
          ) s
          window w as (order by at)
        ) s
        where n = 1 or events <= $3
        order by session_id`,
    },
    [String(build), SAMPLE_SESSIONS, SAMPLE_EVENTS],
  );
  return rows.map((row) => row.session_id);
}
