/** Folds sessions from their first event, beside the tables of a build, and says where the two differ. */
import { sql } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/pg-core";
import type { Db, Tx } from "../db/connect.ts";
import { parseHeader } from "../events/header.ts";
import { SessionId } from "../events/ids.ts";
import { parseJson } from "../events/json.ts";
import { isStorageTag } from "../events/vocabulary.ts";
import { readPage } from "../log/read.ts";
import { eventsOf } from "../log/stored-row.ts";
import { wantedTypes } from "../projector/feed.ts";
import { buildSchema } from "../projector/open-session.ts";
import { RowBuffer, type RowChange } from "../projector/row-buffer.ts";
import { writeTable } from "../projector/table-writer.ts";
import type { NewBuild } from "./rebuild-row.ts";

interface FoldedSession {
  readonly session_id: string;
  readonly header: string;
  readonly next_seq: number;
  readonly skipped: readonly number[];
}

/**
 * Compares the rows of some sessions with a fold in memory up to each session's checkpoint, in one repeatable-read
 * transaction that writes nothing but temporary tables. Returns the ids of sessions that differ.
 * Sessions that were erased since their checkpoint are passed over.
 */
export async function findMisfolded(
  db: Db,
  build: NewBuild,
  sessionIds: readonly string[],
): Promise<readonly string[]> {
  if (sessionIds.length === 0) return [];
  return db.transaction(async (tx) => {
    await tx.rows({ text: "set transaction isolation level repeatable read" });
    const sessions = await tx.rows<FoldedSession>(
      {
        text: `
          select s.session_id, s.header, c.next_seq,
                 coalesce((select json_agg(k.seq) from turnlog.skipped_events k
                           where k.session_id = s.session_id and k.build = c.build and k.incarnation = s.incarnation),
                          '[]') as skipped
          from turnlog.checkpoints c
          join turnlog.sessions s on s.session_id = c.session_id
          where c.build = $1 and c.session_id = any($2::text[]) and s.deleted_at is null
            and c.incarnation = s.incarnation and c.redaction_generation = s.redaction_generation
          order by s.session_id`,
      },
      [build.build, sessionIds],
    );
    for (const table of build.projection.tables) {
      const { name } = getTableConfig(table);
      await tx.orm.execute(
        sql`create temporary table ${sql.identifier(name)} (like ${sql.identifier(buildSchema(build.build))}.${sql.identifier(name)} including indexes) on commit drop`,
      );
    }
    const rows = new FoldedRows(tx);
    for (const session of sessions) await foldInto(tx, rows, build, session);
    await rows.flush();
    const ids = sessions.map(({ session_id }) => session_id);
    const differing = new Set<string>();
    for (const table of build.projection.tables) {
      const { name } = getTableConfig(table);
      for (const id of await findDifferences(tx, build.build, name, ids))
        differing.add(id);
    }
    return [...differing].toSorted((a, b) => (a < b ? -1 : 1));
  });
}

/** Changes from which they are written. */
const FULL_CHANGES = 5_000;

/** Rows of several sessions on their way into the temporary tables. */
class FoldedRows {
  readonly #tx: Tx;
  readonly #buffer = new RowBuffer();
  #changes = 0;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  readonly add = (change: RowChange): void => {
    this.#changes += 1;
    this.#buffer.add(change);
  };

  get isFull(): boolean {
    return this.#changes >= FULL_CHANGES;
  }

  async flush(): Promise<void> {
    this.#changes = 0;
    for (const [table, changes] of this.#buffer.take())
      await writeTable(this.#tx, "pg_temp", table, changes);
  }
}

async function foldInto(
  tx: Tx,
  into: FoldedRows,
  { projection }: NewBuild,
  session: FoldedSession,
): Promise<void> {
  const sessionId = SessionId(session.session_id);
  const header = parseHeader(parseJson(session.header));
  const fold = projection.fold(header, "", into.add);
  const types = wantedTypes([{ projection }]);
  for (let fromSeq = 0; fromSeq < session.next_seq;) {
    const rows = await readPage(tx, {
      sessionId,
      fromSeq,
      toSeq: session.next_seq,
      types,
    });
    for (const row of rows) {
      if (isStorageTag(row.type) && !fold.wantsDeltas()) continue;
      for (const event of eventsOf(row))
        if (!session.skipped.includes(event.seq))
          fold.apply({ ...event, sessionId });
    }
    if (into.isFull) await into.flush();
    const last = rows.at(-1);
    fromSeq =
      last === undefined ? session.next_seq : last.seq + last.event_count;
  }
}

async function findDifferences(
  tx: Tx,
  build: number,
  table: string,
  sessionIds: readonly string[],
): Promise<readonly string[]> {
  const stored = sql`${sql.identifier(buildSchema(build))}.${sql.identifier(table)}`;
  const folded = sql`pg_temp.${sql.identifier(table)}`;
  const among = sql`session_id = any(${sql.param([...sessionIds])}::text[])`;
  const { rows } = await tx.orm.execute<{ session_id: string }>(sql`
    select distinct d.session_id
    from (
      (select * from ${stored} where ${among} except all select * from ${folded})
      union all
      (select * from ${folded} except all select * from ${stored} where ${among})
    ) d`);
  return rows.map((row) => row.session_id);
}
