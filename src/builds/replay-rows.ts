/** Reads the log of several sessions in one stream of pages: only types that are handled, in order of session and seq. */
import type { Queryable } from "../db/connect.ts";
import { STORED_COLUMNS, type StoredRow } from "../log/stored-row.ts";

/** A row of the log, and whose it is. */
export interface ReplayRow extends StoredRow {
  readonly session_id: string;
}

/** Rows and payload bytes of a page; a page always has at least one row. */
const PAGE_ROWS = 2_000;
const PAGE_BYTES = 4 * 1024 * 1024;

export interface ReplayRange {
  /** In byte order. */
  readonly sessionIds: readonly string[];
  /** First seq of the first session. */
  readonly fromSeq: number;
  /** Row types wanted; null for all. */
  readonly types: readonly string[] | null;
}

/** Yields pages of rows. The next page is on its way while one is folded. */
export async function* readReplayRows(
  db: Queryable,
  range: ReplayRange,
): AsyncGenerator<readonly ReplayRow[]> {
  const [firstId = ""] = range.sessionIds;
  let next: Promise<ReplayRow[]> | null = readPage(
    db,
    range,
    firstId,
    range.fromSeq,
  );
  try {
    while (next !== null) {
      const rows: readonly ReplayRow[] = await next;
      const last = rows.at(-1);
      next =
        last === undefined
          ? null
          : readPage(db, range, last.session_id, last.seq + 1);
      // A page that fails while the one before it is folded is reported when its turn comes.
      next?.catch(() => undefined);
      if (rows.length > 0) yield rows;
    }
  } finally {
    await next?.catch(() => undefined);
  }
}

function readPage(
  db: Queryable,
  { sessionIds, types }: ReplayRange,
  sessionId: string,
  seq: number,
): Promise<ReplayRow[]> {
  const name =
    types === null ? "turnlog_replay_page" : "turnlog_replay_typed_page";
  const filter = types === null ? "" : "and type = any($6::text[])";
  const values = [sessionId, seq, sessionIds, PAGE_ROWS, PAGE_BYTES];
  return db.rows<ReplayRow>(
    {
      name,
      text: `
        select session_id, ${STORED_COLUMNS}
        from (
          select session_id, ${STORED_COLUMNS},
                 sum(octet_length(payload)) over (order by session_id, seq) - octet_length(payload) as bytes_before
          from (
            select session_id, ${STORED_COLUMNS}
            from turnlog.events
            where (session_id, seq) >= ($1, $2)
              and session_id <= ($3::text[])[cardinality($3::text[])]
              and session_id = any($3::text[]) ${filter}
            order by session_id, seq
            limit $4
          ) page
        ) page
        where bytes_before < $5
        order by session_id, seq`,
    },
    types === null ? values : [...values, types],
  );
}
