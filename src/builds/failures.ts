/** Sessions that a new build could not fold while the live one can. */
import type { Queryable } from "../db/connect.ts";
import { BuildVerifyFailedError } from "../errors.ts";
import type { NewBuild } from "./rebuild-row.ts";

interface FailureRow {
  readonly build: number;
  readonly session_id: string;
  readonly error_seq: number | null;
  readonly error_code: string | null;
  readonly sessions: number;
}

/**
 * A session at which the live build has failed as early is no worse off than before, and does not count.
 * @throws BuildVerifyFailedError naming the first one
 */
export async function refuseFailures(
  db: Queryable,
  builds: readonly NewBuild[],
): Promise<void> {
  const [row] = await db.rows<FailureRow>(
    {
      text: `
        select c.build, c.session_id, c.error_seq, c.error_code, count(*) over () as sessions
        from turnlog.checkpoints c
        join turnlog.builds n on n.number = c.build
        left join turnlog.builds l on l.projection = n.projection and l.status = 'live'
        left join turnlog.checkpoints o on o.session_id = c.session_id and o.build = l.number
        where c.build = any($1::integer[])
          and (c.next_at is not null or c.parked_at is not null)
          and not coalesce((o.next_at is not null or o.parked_at is not null) and o.next_seq <= c.next_seq, false)
        order by c.build, c.session_id
        limit 1`,
    },
    [builds.map(({ build }) => build)],
  );
  const failed = builds.find(({ build }) => build === row?.build);
  if (row === undefined || failed === undefined) return;
  throw new BuildVerifyFailedError({
    projection: failed.projection.name,
    build: row.build,
    sessionId: row.session_id,
    seq: row.error_seq,
    errorCode: row.error_code,
    sessions: row.sessions,
  });
}
