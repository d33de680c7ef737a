/** Queries that docs/read-tables.md shows, three for each view. `$1` is a session id. The tests run them. */

export interface ExampleQuery {
  readonly about: string;
  readonly sql: string;
}

export const exampleQueries: Readonly<Record<string, readonly ExampleQuery[]>> =
  {
    sessions: [
      {
        about: "The sessions that a person last spoke in",
        sql: `select session_id, display_title, status, last_prompt_at
from turnlog_read.sessions
order by activity_ms desc, session_id desc
limit 20`,
      },
      {
        about: "What was forked from a session or delegated by it",
        sql: `select session_id, origin, display_title
from turnlog_read.sessions
where parent_session_id = $1
order by created_ms`,
      },
      {
        about: "How full the context of a session is",
        sql: `select context_tokens, context_window, is_context_over
from turnlog_read.sessions
where session_id = $1`,
      },
    ],
    session_totals: [
      {
        about: "What a session used, and with all sessions below it",
        sql: `select own_tokens, inherited_tokens, subtree_session_count, subtree_tokens
from turnlog_read.session_totals
where session_id = $1`,
      },
      {
        about: "The total of a session beside its last request",
        sql: `select own_tokens + inherited_tokens as session_tokens, last_request_tokens
from turnlog_read.session_totals
where session_id = $1`,
      },
      {
        about: "The costliest trees of sessions",
        sql: `select session_id, subtree_session_count, subtree_tokens
from turnlog_read.session_totals
where parent_session_id is null
order by subtree_tokens desc
limit 10`,
      },
    ],
    messages: [
      {
        about: "What the model sees next",
        sql: `select seq, role, source_kind, text
from turnlog_read.messages
where session_id = $1 and on_surface
order by order_key`,
      },
      {
        about: "The conversation as a person saw it",
        sql: `select seq, role, text, replaced_by_seq
from turnlog_read.messages
where session_id = $1 and in_transcript
order by seq`,
      },
      {
        about: "What a person said",
        sql: `select time_at, text
from turnlog_read.messages
where session_id = $1 and source_kind = 'user' and in_transcript
order by seq`,
      },
    ],
    usage: [
      {
        about: "The attempts of a session, failed ones included",
        sql: `select turn, step, attempt, kind, model, input_tokens, cache_read_tokens, output_tokens
from turnlog_read.usage
where session_id = $1
order by first_seq`,
      },
      {
        about: "What failed attempts and compactions of a session cost",
        sql: `select kind, count(*) as attempts, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens
from turnlog_read.usage
where session_id = $1 and not inherited and kind <> 'request'
group by kind
order by kind`,
      },
      {
        about: "Reports of a session that hold what is no count",
        sql: `select seq, provider, model
from turnlog_read.usage
where session_id = $1 and flagged
order by seq`,
      },
    ],
    token_stats: [
      {
        about: "Tokens of a session by model",
        sql: `select provider, model, request_count, total_tokens, cache_hit_ratio
from turnlog_read.token_stats
where session_id = $1
order by total_tokens desc`,
      },
      {
        about: "Own against inherited tokens of a session",
        sql: `select model, total_tokens, inherited_total_tokens
from turnlog_read.token_stats
where session_id = $1
order by model`,
      },
      {
        about: "The three largest sessions and models",
        sql: `select s.display_title, t.model, t.request_count, t.total_tokens, t.cache_hit_ratio
from turnlog_read.sessions s
join turnlog_read.token_stats t using (session_id)
order by t.total_tokens desc
limit 3`,
      },
    ],
    usage_by_day: [
      {
        about: "Tokens by day",
        sql: `select day, session_count, request_count, total_tokens
from turnlog_read.usage_by_day
order by day`,
      },
      {
        about: "How well the cache served, by day",
        sql: `select day, cache_read_tokens, cache_hit_ratio
from turnlog_read.usage_by_day
order by day`,
      },
      {
        about: "The share of failed attempts, by day",
        sql: `select day, failed_count::float8 / request_count as failed_share
from turnlog_read.usage_by_day
order by day`,
      },
    ],
    usage_by_model: [
      {
        about: "Tokens by model",
        sql: `select provider, model, request_count, total_tokens
from turnlog_read.usage_by_model
order by total_tokens desc`,
      },
      {
        about: "The share of reasoning in the output",
        sql: `select model, reasoning_tokens::float8 / nullif(output_tokens, 0) as reasoning_share
from turnlog_read.usage_by_model
order by model`,
      },
      {
        about: "Models whose reports can't be trusted",
        sql: `select provider, model, flagged_count, request_count
from turnlog_read.usage_by_model
where flagged_count > 0
order by flagged_count desc`,
      },
    ],
    titles: [
      {
        about: "The titles that a session had",
        sql: `select seq, title, source
from turnlog_read.titles
where session_id = $1
order by seq`,
      },
      {
        about: "Its title now, and since when",
        sql: `select title, time_at
from turnlog_read.titles
where session_id = $1 and is_current`,
      },
      {
        about: "How often people rename sessions",
        sql: `select source, count(*) as titles, count(distinct session_id) as sessions
from turnlog_read.titles
group by source
order by source`,
      },
    ],
    turns: [
      {
        about: "The turns of a session",
        sql: `select turn, reason, step_count, duration_ms, model_ms, tool_ms
from turnlog_read.turns
where session_id = $1
order by start_seq`,
      },
      {
        about: "The time to the first token, by session",
        sql: `select session_id, sum(first_token_ms)::float8 / nullif(sum(first_token_steps), 0) as first_token_ms
from turnlog_read.turns
where session_id = $1
group by session_id`,
      },
      {
        about: "How turns end",
        sql: `select reason, count(*) as turns
from turnlog_read.turns
where not inherited
group by reason
order by turns desc, reason`,
      },
    ],
    tool_calls: [
      {
        about: "The calls of a session that failed",
        sql: `select seq, name, error_code, result_text
from turnlog_read.tool_calls
where session_id = $1 and outcome = 'error'
order by seq, ordinal`,
      },
      {
        about: "What a session waits for",
        sql: `select call_id, name, arguments, started_at
from turnlog_read.tool_calls
where session_id = $1 and outcome = 'pending'
order by seq, ordinal`,
      },
      {
        about: "Failures and times by tool",
        sql: `select name, count(*) as calls, count(*) filter (where outcome = 'error') as failed,
       percentile_disc(0.5) within group (order by duration_ms) as median_ms
from turnlog_read.tool_calls
where not inherited
group by name
order by calls desc, name`,
      },
    ],
    events: [
      {
        about: "The beginning of a log",
        sql: `select seq, type, time_at, data
from turnlog_read.events
where session_id = $1 and seq < 10
order by seq`,
      },
      {
        about: "Why the turns of a session ended",
        sql: `select seq, data -> 'reason' ->> 'kind' as reason
from turnlog_read.events
where session_id = $1 and type = 'turn/end'
order by seq`,
      },
      {
        about: "What kinds of events a session has",
        sql: `select type, count(*) as events
from turnlog_read.events
where session_id = $1
group by type
order by events desc, type`,
      },
    ],
    projection_status: [
      {
        about: "How far each projection is",
        sql: `select projection, version, sessions_behind, events_behind
from turnlog_read.projection_status
where status = 'live'
order by projection`,
      },
      {
        about: "What has waited for longer than a minute",
        sql: `select projection, build, oldest_unapplied_ms
from turnlog_read.projection_status
where oldest_unapplied_ms > 60000
order by oldest_unapplied_ms desc`,
      },
      {
        about: "Where somebody has to look",
        sql: `select projection, failing_sessions, parked_sessions
from turnlog_read.projection_status
where parked_sessions > 0
order by projection`,
      },
    ],
    parked: [
      {
        about: "What has been given up, oldest first",
        sql: `select projection, session_id, seq, error_code, parked_at
from turnlog_read.parked
where parked_at is not null
order by parked_at`,
      },
      {
        about: "What is wrong with a session",
        sql: `select projection, seq, error_code, attempts, next_at
from turnlog_read.parked
where session_id = $1
order by projection`,
      },
      {
        about: "Which failures are common",
        sql: `select projection, error_code, count(*) as sessions
from turnlog_read.parked
group by projection, error_code
order by sessions desc, projection`,
      },
    ],
  };
