/** The `usage` projection, and the sums over it. */
import { defineProjection } from "../../projector/projection.ts";
import { applyUsage, initUsage } from "./fold.ts";
import { usageTable } from "./tables.ts";
import { usageViews } from "./views.ts";

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
  views: usageViews,
});
