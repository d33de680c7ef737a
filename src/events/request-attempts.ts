/** The attempts at one model request: a step makes one, and a retry inside of it makes another. */
import { member, type SessionEvent } from "./event.ts";

export interface RequestAttempt {
  /** From 1 in each step. */
  readonly number: number;
  /**
   * First event the attempt left: a chunk, or what settled it where nothing was streamed. What the log holds before
   * it is what the request was made from.
   */
  readonly firstSeq: number;
  /** `open` while the log does not say what became of it. */
  readonly outcome: "message" | "failed" | "open";
}

/** Event types that tell attempts apart. Chunks may be packed, so a reader of rows wants the storage tags too. */
export const ATTEMPT_TYPES = [
  "turn/start",
  "turn/end",
  "step/start",
  "step/end",
  "assistant/chunk",
  "assistant/message",
  "llm/retry",
  "llm/retry-started",
  "compaction/start",
] as const;

/** Collects the attempts of one step, from the events after its `step/start`. */
export interface AttemptFold {
  /** Takes the next event; false once the step is over and nothing more is wanted. */
  apply(event: SessionEvent): boolean;
  readonly attempts: readonly RequestAttempt[];
}

interface Place {
  readonly turn: number;
  readonly step: number;
}

/** Starts before the first attempt of a step. */
export function createAttemptFold(place: Place): AttemptFold {
  const state: State = { attempts: [], isStreaming: false, inHand: false };
  return {
    attempts: state.attempts,
    apply: (event) => apply(state, place, event),
  };
}

interface State {
  readonly attempts: RequestAttempt[];
  /** Whether the next chunk is of the last attempt too. */
  isStreaming: boolean;
  /** Whether the next failure is that of the last attempt. */
  inHand: boolean;
}

function apply(state: State, place: Place, event: SessionEvent): boolean {
  switch (event.type) {
    case "turn/start":
    case "turn/end":
    case "step/start":
    case "step/end":
      close(state);
      return false;
    case "assistant/chunk":
      if (isAt(event, place)) applyChunk(state, event);
      return true;
    case "assistant/message":
      if (isAt(event, place) && event.surfaceOp === "append")
        applyMessage(state, event);
      return true;
    case "llm/retry":
      if (isAt(event, place)) applyRetry(state, event);
      return true;
    case "llm/retry-started":
    case "compaction/start":
      close(state);
      return true;
    default:
      return true;
  }
}

function applyChunk(state: State, { seq, data }: SessionEvent): void {
  if (!state.isStreaming) {
    close(state);
    begin(state, seq, "open");
  }
  const chunk = member(data, "chunk");
  state.isStreaming = member(chunk, "type") !== "finish";
  state.inHand = true;
  const reason = member(member(chunk, "reason"), "kind");
  if (!state.isStreaming && reason === "error")
    settle(state, state.attempts.at(-1), "failed");
}

/** An answer names its chunks, and by them its attempt; one that names none is of the attempt in hand or unstreamed. */
function applyMessage(state: State, event: SessionEvent): void {
  const cited = event.sourceEventSeqs?.[0] ?? -1;
  const last = state.attempts.at(-1);
  const attempt =
    state.attempts.findLast(({ firstSeq }) => firstSeq <= cited) ??
    (last?.outcome === "open" ? last : undefined);
  if (attempt === undefined) begin(state, event.seq, "message");
  else settle(state, attempt, "message");
  close(state);
}

/** An attempt that left nothing else in the log is known by its failure. */
function applyRetry(state: State, { seq }: SessionEvent): void {
  if (state.inHand) settle(state, state.attempts.at(-1), "failed");
  else begin(state, seq, "failed");
  close(state);
}

/** Nothing more comes of the last attempt. */
function close(state: State): void {
  const last = state.attempts.at(-1);
  if (last?.outcome === "open") settle(state, last, "failed");
  state.isStreaming = false;
  state.inHand = false;
}

function begin(
  state: State,
  firstSeq: number,
  outcome: RequestAttempt["outcome"],
): void {
  const number = state.attempts.length + 1;
  state.attempts.push({ number, firstSeq, outcome });
}

function settle(
  state: State,
  attempt: RequestAttempt | undefined,
  outcome: RequestAttempt["outcome"],
): void {
  if (attempt !== undefined)
    state.attempts[attempt.number - 1] = { ...attempt, outcome };
}

function isAt({ data }: SessionEvent, { turn, step }: Place): boolean {
  return member(data, "turn") === turn && member(data, "step") === step;
}
