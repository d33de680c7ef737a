/** The transcript: a session as a person saw it, which is not what the model sees. */
import { member, type SessionEvent } from "./event.ts";
import { isInterrupted } from "./interrupted.ts";
import { isJsonArray, seqOrNull, type JsonValue } from "./json.ts";
import { isMessage, type Message } from "./message.ts";
import { isSurfaceType, SURFACE_TYPES } from "./vocabulary.ts";

interface ItemPlace {
  /** Event that the item stands for. */
  readonly seq: number;
  /** Epoch ms; never an order. */
  readonly timeMs: number;
}

/** A message or a tool result, also one that the model no longer sees. */
export interface TranscriptMessage extends ItemPlace {
  readonly kind: "message";
  readonly type: (typeof SURFACE_TYPES)[number];
  readonly message: Message;
  /** A cancelled answer, or a result that stands for a call which was cut off or never ran. Not a failure. */
  readonly interrupted: boolean;
}

/** Earlier messages were replaced, for the model, by a summary. */
export interface TranscriptCompaction extends ItemPlace {
  readonly kind: "compaction";
  /** Blocks of the summary. */
  readonly summary: readonly JsonValue[];
  /** The `compaction/summary`, which also names what it hides. */
  readonly summarySeq: number;
}

/** A turn ended in any way but a normal one. */
export interface TranscriptTurnEnd extends ItemPlace {
  readonly kind: "turn-end";
  readonly turn: number | null;
  /** Its `kind`, such as `max-tokens`, `aborted`, `error` or `interrupted`, with the facts of that kind. */
  readonly reason: JsonValue;
}

/** Something that is no message; `data` is the event's own. */
export interface TranscriptMarker extends ItemPlace {
  readonly kind: "todo" | "approval" | "command" | "retry" | "error";
  readonly type: string;
  readonly data: JsonValue;
}

export type TranscriptItem =
  | TranscriptMessage
  | TranscriptCompaction
  | TranscriptTurnEnd
  | TranscriptMarker;

const MARKER_KINDS: ReadonlyMap<string, TranscriptMarker["kind"]> = new Map([
  ["todo/write", "todo"],
  ["approval/asked", "approval"],
  ["approval/decided", "approval"],
  ["command/run", "command"],
  ["command/done", "command"],
  ["llm/retry", "retry"],
]);

/** Event types that a transcript is made of. */
export const TRANSCRIPT_TYPES: readonly string[] = [
  ...SURFACE_TYPES,
  ...MARKER_KINDS.keys(),
  "compaction/summary",
  "compaction/end",
  "turn/end",
];

/** Makes items of events, one at most of each; remembers one summary and nothing else. */
export interface TranscriptFold {
  /** Takes the next event; null when it does not show. */
  apply(event: SessionEvent): TranscriptItem | null;
}

/** Starts at any event, but for a compaction: a replacement is known as one by the summary just before it. */
export function createTranscriptFold(): TranscriptFold {
  let summary: SessionEvent | null = null;
  return {
    apply(event) {
      if (event.type === "compaction/summary") {
        summary = event;
        return null;
      }
      if (isSurfaceType(event.type) && event.surfaceOp !== "append")
        return summary !== null && isMadeFrom(event, summary)
          ? compactionItem(event, summary)
          : null;
      return itemOf(event);
    },
  };
}

/** Any producer may replace; a compaction is what follows its summary, or names it. */
function isMadeFrom(event: SessionEvent, summary: SessionEvent): boolean {
  const named = member(member(event.data, "source"), "compactionId");
  return (
    event.seq === summary.seq + 1 ||
    (named !== undefined && named === member(summary.data, "compactionId"))
  );
}

function compactionItem(
  event: SessionEvent,
  { seq: summarySeq, data }: SessionEvent,
): TranscriptCompaction {
  const blocks = member(data, "summary");
  return {
    ...placeOf(event),
    kind: "compaction",
    summary: blocks !== undefined && isJsonArray(blocks) ? blocks : [],
    summarySeq,
  };
}

function itemOf(event: SessionEvent): TranscriptItem | null {
  const { type, data } = event;
  if (isSurfaceType(type)) {
    const message = type === "user/message" ? data : member(data, "message");
    const interrupted = isInterrupted(data);
    return isMessage(message)
      ? { ...placeOf(event), kind: "message", type, message, interrupted }
      : null;
  }
  if (type === "turn/end") {
    const reason = member(data, "reason") ?? null;
    if (member(reason, "kind") === "completed") return null;
    const turn = seqOrNull(member(data, "turn"));
    return { ...placeOf(event), kind: "turn-end", turn, reason };
  }
  const isError =
    type === "compaction/end" && member(data, "error") !== undefined;
  const kind = isError ? "error" : MARKER_KINDS.get(type);
  return kind === undefined ? null : { ...placeOf(event), kind, type, data };
}

function placeOf({ seq, time }: SessionEvent): ItemPlace {
  return { seq, timeMs: time };
}
