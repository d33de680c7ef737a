/**
 * Token totals of sessions: own, inherited, of the last request, and with all sessions below. It stands on the views
 * of sessions and usage, so that both may be rebuilt under it.
 */
import type { ReadView } from "../../projector/projection.ts";

const TOTAL =
  "coalesce(u.input_tokens, 0) + coalesce(u.output_tokens, 0) + coalesce(u.cache_read_tokens, 0) + coalesce(u.cache_write_tokens, 0)";

export const sessionTotals: ReadView = {
  name: "session_totals",
  about:
    "Token totals of each session: of itself, of what it has from its parent, and with the sessions forked from it or delegated by it, and theirs.",
  columns: {
    session_id: "The session.",
    parent_session_id: "Its parent; null when there is none.",
    own_tokens: "Input, output, cache reads and writes of its own attempts.",
    inherited_tokens:
      "The same of the prefix that it has from its parent, where it is counted already.",
    last_request_tokens:
      "The same of its last answered request; null when there is none.",
    subtree_session_count: "Itself and the sessions below it.",
    subtree_tokens: "own_tokens of itself and the sessions below it.",
  },
  select: () => `
        select s.session_id, s.parent_session_id, own.own_tokens, own.inherited_tokens, last.last_request_tokens,
               below.subtree_session_count, below.subtree_tokens
        from turnlog_read.sessions s
        cross join lateral (
          select coalesce(sum(${TOTAL}) filter (where not u.inherited), 0)::bigint as own_tokens,
                 coalesce(sum(${TOTAL}) filter (where u.inherited), 0)::bigint as inherited_tokens
          from turnlog_read.usage u
          where u.session_id = s.session_id
        ) own
        left join lateral (
          select ${TOTAL} as last_request_tokens
          from turnlog_read.usage u
          where u.session_id = s.session_id and u.kind = 'request'
          order by u.first_seq desc
          limit 1
        ) last on true
        cross join lateral (
          with recursive tree (session_id) as (
            select s.session_id
            union
            select c.session_id
            from tree t
            join turnlog_read.sessions c on c.parent_session_id = t.session_id
          )
          select count(distinct t.session_id) as subtree_session_count,
                 coalesce(sum(${TOTAL}), 0)::bigint as subtree_tokens
          from tree t
          left join turnlog_read.usage u on u.session_id = t.session_id and not u.inherited
        ) below`,
};
