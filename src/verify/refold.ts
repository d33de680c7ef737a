/** Folds a session's log anew in memory, up to where a build's checkpoint is. */
import type { Queryable } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import { readPage } from "../log/read.ts";
import {
  feedRow,
  openFeed,
  wantedTypes,
  type Trouble,
} from "../projector/feed.ts";
import type { OpenBuild } from "../projector/open-session.ts";
import type { Projection } from "../projector/projection.ts";
import type { RowBuffer } from "../projector/row-buffer.ts";

/** Where a build stands at a session, and the log it stands on; of one moment. */
export type StoredBuild = OpenBuild & {
  /** The checkpoint is of this log: not of a deleted one, nor from before a redaction. */
  readonly is_current: boolean;
};

/** Null where there is no such session. Missing checkpoints stand at 0. */
export async function readStoredBuild(
  db: Queryable,
  sessionId: SessionId,
  build: number,
): Promise<StoredBuild | null> {
  const [row] = await db.rows<StoredBuild>(
    {
      name: "turnlog_stored_build",
      text: `
        select s.incarnation, s.header, s.facts_head, s.redaction_generation, s.deleted_at is not null as deleted,
               b.number as build, b.projection, b.version, true as due, 0 as attempts,
               coalesce(c.next_seq, 0) as next_seq, 0 as row_seq, '' as state,
               s.incarnation as checkpoint_incarnation, s.redaction_generation as checkpoint_redaction_generation,
               coalesce(c.incarnation = s.incarnation and c.redaction_generation = s.redaction_generation, true) as is_current,
               coalesce((select json_agg(k.seq) from turnlog.skipped_events k
                         where k.session_id = $1 and k.build = b.number and k.incarnation = s.incarnation), '[]') as skipped,
               now()::text as started_at
        from turnlog.sessions s
        join turnlog.builds b on b.number = $2
        left join turnlog.checkpoints c on c.session_id = s.session_id and c.build = b.number
        where s.session_id = $1`,
    },
    [sessionId, build],
  );
  return row ?? null;
}

/** The rows that the events before the checkpoint make, or the event that the fold failed at. */
export async function refold(
  db: Queryable,
  sessionId: SessionId,
  stored: StoredBuild,
  projection: Projection,
): Promise<
  { readonly rows: RowBuffer } | { readonly trouble: Trouble } | null
> {
  const toSeq = stored.next_seq;
  const feed = openFeed({ ...stored, next_seq: 0 }, projection, toSeq);
  if (feed === null) return null;
  const types = wantedTypes([feed]);
  for (let fromSeq = 0; fromSeq < toSeq;) {
    const page = await readPage(db, { sessionId, fromSeq, toSeq, types });
    for (const row of page) {
      const trouble = feedRow([feed], row, toSeq, sessionId).get(feed);
      if (trouble !== undefined) return { trouble };
    }
    const last = page.at(-1);
    fromSeq = last === undefined ? toSeq : last.seq + last.event_count;
  }
  return { rows: feed.buffer };
}
