/** The names of the log: event types, which of them stand on the surface, and which are no longer accepted. */

/** Event types that can be seen by the model; nothing else ever is. */
export const SURFACE_TYPES = [
  "user/message",
  "assistant/message",
  "tool/result",
] as const;

/** Every event type this version reads. */
const KNOWN_TYPES: ReadonlySet<string> = new Set([
  ...SURFACE_TYPES,
  "turn/start",
  "turn/end",
  "step/start",
  "step/end",
  "assistant/chunk",
  "tool/call",
  "todo/write",
  "request/header",
  "request/context",
  "session/end-seed",
  "agent/inbox/spliced",
  "agent-preset/selected",
  "llm/retry",
  "llm/retry-started",
  "compaction/start",
  "compaction/summary",
  "compaction/end",
  "compaction/prune",
  "session/title",
  "session/title-llm-request",
  "approval/asked",
  "approval/decided",
  "approval/policy",
  "sandbox/mode",
  "permission/preset",
  "plan/mode",
  "command/run",
  "command/done",
  "feedback/record",
  "goal/change",
  "hook/invoked",
  "hook/result",
  "schedule/change",
  "subagent/descriptor",
  "team/member",
  "team/task",
  "team/message/queued",
  "team/message/delivered",
  "tool/code-dispatch-start",
  "tool/code-dispatch",
  "tool-workflow/run-start",
  "tool-workflow/agent-start",
  "tool-workflow/agent-end",
  "tool-workflow/run-end",
  "web/deepseek-search-llm-request",
]);

/** Types of former versions whose meaning is gone. */
const RETIRED_TYPES: ReadonlySet<string> = new Set([
  "request/header-delta",
  "mode/set",
]);

/** Types of rows that hold a run of deltas; never types of events. */
export const STORAGE_TAGS = [
  "text-chunks",
  "reasoning-chunks",
  "tool-call-chunks",
] as const;

export type SurfaceType = (typeof SURFACE_TYPES)[number];
export type StorageTag = (typeof STORAGE_TAGS)[number];

export function isSurfaceType(type: string): type is SurfaceType {
  return (
    type === "user/message" ||
    type === "assistant/message" ||
    type === "tool/result"
  );
}

export function isStorageTag(type: string): type is StorageTag {
  return (
    type === "text-chunks" ||
    type === "reasoning-chunks" ||
    type === "tool-call-chunks"
  );
}

export function isKnownType(type: string): boolean {
  return KNOWN_TYPES.has(type);
}

export function isRetiredType(type: string): boolean {
  return RETIRED_TYPES.has(type);
}
