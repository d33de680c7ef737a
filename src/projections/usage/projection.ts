/** The `usage` projection, and the sums over it. */
import { defineProjection } from "../../projector/projection.ts";
import { asTimestamp } from "../columns.ts";
import { applyUsage, initUsage } from "./fold.ts";
import { usageTable } from "./tables.ts";

/** Sums one count over the own or the inherited facts. */
const sum = (column: string, inherited: boolean): string =>
  `coalesce(sum(${column}) filter (where ${inherited ? "" : "not "}inherited), 0)::bigint`;

const TOTAL =
  "(coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0))";
const BILLED_INPUT =
  "(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0))";

export const usage = defineProjection({
  name: "usage",
  version: 1,
  tables: { usage: usageTable },
  handles: [
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "request/header",
    "assistant/chunk",
    "assistant/message",
    "llm/retry",
    "llm/retry-started",
    "compaction/start",
    "compaction/summary",
  ],
  init: initUsage,
  apply: applyUsage,
  views: [
    {
      name: "usage",
      select: (table) => `
        select session_id, turn, step, attempt, kind, inherited, provider, model, input_tokens, output_tokens,
               cache_read_tokens, cache_write_tokens, reasoning_tokens, flagged, time_ms,
               ${asTimestamp("time_ms")} as time_at, seq, first_seq
        from ${table("usage")}`,
    },
    {
      name: "token_stats",
      select: (table) => `
        select session_id, provider, model,
               count(*) filter (where not inherited) as request_count,
               count(*) filter (where not inherited and kind = 'failed') as failed_count,
               ${sum("input_tokens", false)} as input_tokens,
               ${sum("output_tokens", false)} as output_tokens,
               ${sum("cache_read_tokens", false)} as cache_read_tokens,
               ${sum("cache_write_tokens", false)} as cache_write_tokens,
               ${sum("reasoning_tokens", false)} as reasoning_tokens,
               ${sum(TOTAL, false)} as total_tokens,
               round(sum(cache_read_tokens) filter (where not inherited)
                     / nullif(sum(${BILLED_INPUT}) filter (where not inherited), 0), 4)::float8 as cache_hit_ratio,
               count(*) filter (where inherited) as inherited_request_count,
               ${sum("input_tokens", true)} as inherited_input_tokens,
               ${sum("output_tokens", true)} as inherited_output_tokens,
               ${sum("cache_read_tokens", true)} as inherited_cache_read_tokens,
               ${sum("cache_write_tokens", true)} as inherited_cache_write_tokens,
               ${sum(TOTAL, true)} as inherited_total_tokens
        from ${table("usage")}
        group by session_id, provider, model`,
    },
  ],
});
