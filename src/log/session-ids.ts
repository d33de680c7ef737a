/** All stored sessions, in byte order of their ids. */
import type { Queryable } from "../db/connect.ts";
import { SessionId } from "../events/ids.ts";

const PAGE = 1_000;

/** Yields ids page by page; a session that is created meanwhile may be among them or not. */
export async function* readSessionIds(
  db: Queryable,
): AsyncGenerator<SessionId> {
  for (let after = ""; ;) {
    const rows = await db.rows<{ session_id: string }>(
      {
        name: "turnlog_session_ids",
        text: `
          select session_id
          from turnlog.sessions
          where session_id > $1 and deleted_at is null
          order by session_id
          limit $2`,
      },
      [after, PAGE],
    );
    for (const row of rows) yield SessionId(row.session_id);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.session_id;
  }
}
