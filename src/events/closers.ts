/**
 * The events that close a turn which a crash has left open: results for the calls that have none, the end of the step,
 * the end of the turn. A pure function of the log, so that whoever repairs it comes to the same events.
 */
import { member, type SessionEvent } from "./event.ts";
import { isJsonArray, seqOrNull, type JsonValue } from "./json.ts";
import { isBlock } from "./message.ts";

/** Types that say what is open; a look at others is not needed. */
export const CLOSER_TYPES = [
  "turn/start",
  "turn/end",
  "step/start",
  "step/end",
  "assistant/message",
  "tool/call",
  "tool/result",
] as const;

/** A call that an answer has made and that has no result. */
interface PendingCall {
  readonly callId: string;
  /** Step of the answer. */
  readonly step: JsonValue;
  /** Seq of its `tool/call`; null where the call was never recorded as started. */
  readonly callSeq: number | null;
}

/** Where the log stands: open brackets, and pending calls in the order of the answers. */
export interface OpenTurn {
  readonly turn: number | null;
  readonly step: number | null;
  readonly pending: ReadonlyMap<string, PendingCall>;
}

export const initOpenTurn: OpenTurn = {
  turn: null,
  step: null,
  pending: new Map(),
};

/** Every start and end of a turn forgets what came before it, so a scan may begin at the last one. */
export function followTurn(open: OpenTurn, event: SessionEvent): OpenTurn {
  const { type, data, seq } = event;
  switch (type) {
    case "turn/start":
      return { ...initOpenTurn, turn: seqOrNull(member(data, "turn")) };
    case "turn/end":
      return initOpenTurn;
    case "step/start":
      return { ...open, step: seqOrNull(member(data, "step")) };
    case "step/end":
      return { ...open, step: null, pending: new Map() };
    case "assistant/message":
      return { ...open, pending: withCalls(open.pending, data) };
    case "tool/call":
      return { ...open, pending: started(open.pending, data, seq) };
    case "tool/result":
      return { ...open, pending: answered(open.pending, data) };
    default:
      return open;
  }
}

/**
 * The closers of a log that ends in `open`; none when no turn is open.
 * @param last the event that they follow: its time is theirs, so that a repair invents none
 */
export function closersOf(
  open: OpenTurn,
  last: Pick<SessionEvent, "seq" | "time">,
): readonly SessionEvent[] {
  const { turn, step, pending } = open;
  if (turn === null) return [];
  const firstSeq = last.seq + 1;
  const { time } = last;
  const results = [...pending.values()].map((call, at) =>
    resultOf(call, turn, firstSeq + at, time),
  );
  const stepSeq = firstSeq + results.length;
  const stepEnds =
    step === null
      ? []
      : [{ type: "step/end", seq: stepSeq, time, data: { turn, step } }];
  const turnEnd = {
    type: "turn/end",
    seq: stepSeq + stepEnds.length,
    time,
    data: { turn, reason: { kind: "interrupted" } },
  };
  return [...results, ...stepEnds, turnEnd];
}

/** A call that is made again keeps its place and counts as not started. */
function withCalls(
  pending: OpenTurn["pending"],
  data: JsonValue,
): OpenTurn["pending"] {
  const content = member(member(data, "message"), "content");
  const blocks = content !== undefined && isJsonArray(content) ? content : [];
  const calls = blocks.flatMap((block): [string, PendingCall][] => {
    const callId = member(block, "id");
    if (!isBlock(block, "tool-call") || typeof callId !== "string") return [];
    const step = member(data, "step") ?? null;
    return [[callId, { callId, step, callSeq: null }]];
  });
  return calls.length === 0 ? pending : new Map([...pending, ...calls]);
}

/** A call that no answer has made has nobody who waits for its result. */
function started(
  pending: OpenTurn["pending"],
  data: JsonValue,
  callSeq: number,
): OpenTurn["pending"] {
  const callId = member(data, "callId");
  const call = typeof callId === "string" ? pending.get(callId) : undefined;
  if (call === undefined) return pending;
  return new Map([...pending, [call.callId, { ...call, callSeq }]]);
}

function answered(
  pending: OpenTurn["pending"],
  data: JsonValue,
): OpenTurn["pending"] {
  const callId = member(member(member(data, "message"), "source"), "callId");
  if (typeof callId !== "string" || !pending.has(callId)) return pending;
  return new Map([...pending].filter(([other]) => other !== callId));
}

/** A call that may have run must not be repeated blindly; one that never ran may be. */
const OUTCOME_UNKNOWN = {
  error: { name: "ToolOutcomeUnknownError", code: "TOOL_OUTCOME_UNKNOWN" },
  text:
    "The tool call was interrupted after it was recorded, but no result was durably recorded. Its outcome is unknown. " +
    "Decide whether to retry from the tool semantics: retry only if the operation is read-only or idempotent; if it may " +
    "have side effects, first verify external state or ask the user. Do not retry blindly.",
} as const;

const NOT_STARTED = {
  error: { name: "ToolNotStartedError", code: "TOOL_NOT_STARTED" },
  text: "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed.",
} as const;

/** Keys stand in the order of the harness' own repair. */
function resultOf(
  { callId, step, callSeq }: PendingCall,
  turn: number,
  seq: number,
  time: number,
): SessionEvent {
  const { error, text } = callSeq === null ? NOT_STARTED : OUTCOME_UNKNOWN;
  const block = {
    type: "tool-result",
    toolCallId: callId,
    isError: true,
    content: [{ type: "text", text }],
  };
  const message = {
    id: `interrupted-tool-result-${callId}-${seq}`,
    role: "user",
    source: { kind: "tool", callId },
    content: [block],
  };
  return {
    type: "tool/result",
    seq,
    time,
    data: { turn, step, message, error },
    surfaceOp: "append",
    ...(callSeq === null ? {} : { sourceEventSeqs: [callSeq] }),
  };
}
