/** Data of workflows: runs of several agents by a tool. */
import { eventOf, oneOf, open, ordinal, text } from "./fields.ts";

const runId = text("Identity of the run");
const seq = ordinal("The run's own count of its agents; no seq of the session");

export const workflowSchemas = {
  "tool-workflow/run-start": eventOf(
    "in a turn",
    "A workflow begins.",
    open({ runId, name: text("Name of the workflow") }),
  ),
  "tool-workflow/agent-start": eventOf(
    "in a turn",
    "An agent of the workflow begins.",
    open({
      runId,
      seq,
      label: text("What the agent is for"),
      phase: text("Part of the workflow").optional(),
      childId: text("Session id of the agent"),
    }),
  ),
  "tool-workflow/agent-end": eventOf(
    "in a turn",
    "The agent is done.",
    open({
      runId,
      seq,
      outcome: oneOf(["completed", "failed", "cancelled"], "How it went"),
    }),
  ),
  "tool-workflow/run-end": eventOf(
    "in a turn",
    "The workflow is over.",
    open({
      runId,
      stopReason: oneOf(["completed", "cancelled", "error"], "Why it is over"),
    }),
  ),
} as const;
