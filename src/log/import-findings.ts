/** What an import of a log as it is found: kept beside the log, so that later trouble can be told from it. */
import type { Queryable } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import type { Finding } from "../events/rules/log-audit.ts";
import { storableText } from "../events/text.ts";

/**
 * Keeps findings about events that are stored. Those that are kept already are passed over. One statement.
 * @returns how many are new
 */
export async function recordFindings(
  db: Queryable,
  sessionId: SessionId,
  findings: readonly Finding[],
): Promise<number> {
  const placed = findings.filter(({ seq }) => seq !== null);
  const rows = await db.rows(
    {
      text: `
        insert into turnlog.import_findings (session_id, incarnation, seq, rule, path, reason)
        select s.session_id, s.incarnation, f.seq, f.rule, f.path, f.reason
        from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) f (seq, rule, path, reason)
        join turnlog.sessions s on s.session_id = $1 and s.deleted_at is null and f.seq < s.head
        on conflict do nothing
        returning seq`,
    },
    [
      sessionId,
      placed.map(({ seq }) => seq),
      placed.map(({ rule }) => rule),
      placed.map(({ path }) => path),
      placed.map(({ reason }) => storableText(reason)),
    ],
  );
  return rows.length;
}

/** Keys of the findings that are kept of the session as it is now; see `findingKey`. */
export async function readFindingKeys(
  db: Queryable,
  sessionId: SessionId,
): Promise<ReadonlySet<string>> {
  const rows = await db.rows<Pick<Finding, "seq" | "rule" | "path">>(
    {
      text: `
        select f.seq, f.rule, f.path
        from turnlog.import_findings f
        join turnlog.sessions s using (session_id, incarnation)
        where f.session_id = $1`,
    },
    [sessionId],
  );
  return new Set(rows.map(findingKey));
}

export function findingKey({
  seq,
  rule,
  path,
}: Pick<Finding, "seq" | "rule" | "path">): string {
  return JSON.stringify([seq, rule, path]);
}
