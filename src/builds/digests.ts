/** Compares two builds of one version session by session, by digests of their rows. */
import { sql } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/pg-core";
import type { Db } from "../db/connect.ts";
import { buildSchema } from "../projector/open-session.ts";
import type { NewBuild } from "./rebuild-row.ts";

interface Bounds {
  readonly from_id: string;
  readonly until_id: string | null;
}

/** Differing sessions that are named; of the others only the number is known. */
const NAMED = 50;

export interface Differing {
  readonly count: number;
  /** The first ones, by id. */
  readonly sessionIds: readonly string[];
}

/** Sessions that both have folded equally far, and hold other rows of. Goes range by range, each in one snapshot. */
export async function compareDigests(
  db: Db,
  rebuild: number,
  next: NewBuild,
  live: number,
): Promise<Differing> {
  const ranges = await db.rows<Bounds>(
    {
      text: "select from_id, until_id from turnlog.rebuild_ranges where rebuild = $1 order by range",
    },
    [rebuild],
  );
  let count = 0;
  const sessionIds: string[] = [];
  for (const table of next.projection.tables) {
    const { name } = getTableConfig(table);
    for (const bounds of ranges) {
      const rows = await compareRange(db, name, next.build, live, bounds);
      count += rows.length;
      sessionIds.push(...rows.slice(0, NAMED - sessionIds.length));
    }
  }
  return { count, sessionIds };
}

async function compareRange(
  db: Db,
  table: string,
  next: number,
  live: number,
  { from_id: fromId, until_id: untilId }: Bounds,
): Promise<readonly string[]> {
  const digests = (build: number) => sql`
    select t.session_id, md5(string_agg(md5(t::text), '' order by md5(t::text))) as digest
    from ${sql.identifier(buildSchema(build))}.${sql.identifier(table)} t
    where t.session_id >= ${fromId} and (${untilId}::text is null or t.session_id < ${untilId})
    group by t.session_id`;
  const { rows } = await db.orm.execute<{ session_id: string }>(sql`
    select session_id
    from (${digests(next)}) n
    full join (${digests(live)}) l using (session_id)
    join turnlog.checkpoints cn using (session_id)
    join turnlog.checkpoints cl using (session_id)
    where n.digest is distinct from l.digest
      and cn.build = ${next} and cl.build = ${live} and cn.next_seq = cl.next_seq
      and cn.incarnation = cl.incarnation and cn.redaction_generation = cl.redaction_generation
    order by session_id`);
  return rows.map((row) => row.session_id);
}
