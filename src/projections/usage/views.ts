/** The views over usage: its facts, and the sums that can't drift from them. */
import type { ReadView } from "../../projector/projection.ts";
import { asTimestamp } from "../columns.ts";

/** Sums one count over the own or the inherited facts. */
const sum = (column: string, inherited = false): string =>
  `coalesce(sum(${column}) filter (where ${inherited ? "" : "not "}inherited), 0)::bigint`;

const BILLED_INPUT =
  "(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0))";
const TOTAL = `(${BILLED_INPUT} + coalesce(output_tokens, 0))`;

const OWN_SUMS = `
               count(*) filter (where not inherited) as request_count,
               count(*) filter (where not inherited and kind = 'failed') as failed_count,
               ${sum("input_tokens")} as input_tokens,
               ${sum("output_tokens")} as output_tokens,
               ${sum("cache_read_tokens")} as cache_read_tokens,
               ${sum("cache_write_tokens")} as cache_write_tokens,
               ${sum("reasoning_tokens")} as reasoning_tokens,
               ${sum(TOTAL)} as total_tokens,
               round(sum(cache_read_tokens) filter (where not inherited)
                     / nullif(sum(${BILLED_INPUT}) filter (where not inherited), 0), 4)::float8 as cache_hit_ratio`;

const OWN_KINDS = `
               count(*) filter (where not inherited and kind = 'compaction') as compaction_count,
               count(*) filter (where not inherited and flagged) as flagged_count`;

const OWN_COLUMNS = {
  request_count: "Own request attempts, compactions included.",
  failed_count: "Those of them that became no message.",
  input_tokens: "Uncached input of own attempts, tokens.",
  output_tokens: "Output of own attempts, reasoning included, tokens.",
  cache_read_tokens: "Input of own attempts read from the cache, tokens.",
  cache_write_tokens: "Input of own attempts written to the cache, tokens.",
  reasoning_tokens: "The part of the output that is reasoning, tokens.",
  total_tokens: "Input, output, cache reads and cache writes, tokens.",
  cache_hit_ratio:
    "Cache reads as a share of all input, 0 to 1; null without input.",
} as const;

const KIND_COLUMNS = {
  compaction_count: "Own compactions, each a request that made a summary.",
  flagged_count:
    "Own attempts where the provider reported something that is no count.",
} as const;

export const usageViews: readonly ReadView[] = [
  {
    name: "usage",
    about:
      "One row for each request attempt, and for each compaction that reports usage. To add up sessions, leave out inherited rows.",
    columns: {
      session_id: "The session.",
      turn: "Turn of the request; null outside of any.",
      step: "Step of the request; null outside of any.",
      attempt: "From 1 in each step; null for a compaction.",
      kind: "request; failed: became no message; compaction: made a summary.",
      inherited:
        "True in the prefix that the session has from its parent, where it is counted already.",
      provider: "Provider; null when not known.",
      model: "Model; null when not known.",
      input_tokens: "Uncached input, tokens; null when not reported.",
      output_tokens:
        "Output, reasoning included, tokens; null when not reported.",
      cache_read_tokens:
        "Input read from the cache, tokens, apart from input_tokens; null when not reported.",
      cache_write_tokens:
        "Input written to the cache, tokens, apart from input_tokens; null when not reported.",
      reasoning_tokens:
        "The part of the output that is reasoning, tokens; null when not reported.",
      flagged:
        "True when the provider reported something that is no count; that is null here.",
      time_ms: "Time of the event whose report counts, epoch ms.",
      time_at: "The same as timestamptz; null outside the years 1 to 9999.",
      seq: "Event whose report counts.",
      first_seq: "First event of the attempt: with session_id the key.",
    },
    select: (table) => `
        select session_id, turn, step, attempt, kind, inherited, provider, model, input_tokens, output_tokens,
               cache_read_tokens, cache_write_tokens, reasoning_tokens, flagged, time_ms,
               ${asTimestamp("time_ms")} as time_at, seq, first_seq
        from ${table("usage")}`,
  },
  {
    name: "token_stats",
    about: "Sums of usage for each session, provider and model.",
    columns: {
      session_id: "The session.",
      provider: "Provider; null when not known.",
      model: "Model; null when not known.",
      ...OWN_COLUMNS,
      inherited_request_count:
        "Attempts in the prefix that the session has from its parent.",
      inherited_input_tokens: "Their uncached input, tokens.",
      inherited_output_tokens: "Their output, tokens.",
      inherited_cache_read_tokens: "Their cache reads, tokens.",
      inherited_cache_write_tokens: "Their cache writes, tokens.",
      inherited_total_tokens: "All of their tokens.",
      ...KIND_COLUMNS,
    },
    select: (table) => `
        select session_id, provider, model,${OWN_SUMS},
               count(*) filter (where inherited) as inherited_request_count,
               ${sum("input_tokens", true)} as inherited_input_tokens,
               ${sum("output_tokens", true)} as inherited_output_tokens,
               ${sum("cache_read_tokens", true)} as inherited_cache_read_tokens,
               ${sum("cache_write_tokens", true)} as inherited_cache_write_tokens,
               ${sum(TOTAL, true)} as inherited_total_tokens,${OWN_KINDS}
        from ${table("usage")}
        group by session_id, provider, model`,
  },
  {
    name: "usage_by_day",
    about:
      "Sums of own usage of all sessions by day in UTC, each attempt on the day of its own event.",
    columns: {
      day: "Day in UTC; null for times outside the years 1 to 9999.",
      session_count: "Sessions with own attempts on that day.",
      ...OWN_COLUMNS,
      ...KIND_COLUMNS,
    },
    select: (table) => `
        select (${asTimestamp("time_ms")} at time zone 'UTC')::date as day,
               count(distinct session_id) as session_count,${OWN_SUMS},${OWN_KINDS}
        from ${table("usage")}
        where not inherited
        group by 1`,
  },
  {
    name: "usage_by_model",
    about: "Sums of own usage of all sessions by provider and model.",
    columns: {
      provider: "Provider; null when not known.",
      model: "Model; null when not known.",
      session_count: "Sessions with own attempts.",
      ...OWN_COLUMNS,
      ...KIND_COLUMNS,
    },
    select: (table) => `
        select provider, model, count(distinct session_id) as session_count,${OWN_SUMS},${OWN_KINDS}
        from ${table("usage")}
        where not inherited
        group by provider, model`,
  },
];
