/** The envelope of an event, as callers give it and as the log gives it back. */
import { isJsonObject, type JsonValue } from "./json.ts";
import type { SurfaceOp } from "./surface.ts";

/** An event to append. The store gives it its seq, and its time when it has none. */
export interface NewEvent {
  /** `family/name`, an open vocabulary. */
  readonly type: string;
  /** Any value that JSON gives back exactly. */
  readonly data: unknown;
  /** Where the caller knows it: checked against the seq the event gets. */
  readonly seq?: number;
  /** Epoch ms, any safe integer. Default: the client's clock when the append is first tried. */
  readonly time?: number;
  /** Lets readers that don't know the type pass over it. */
  readonly ignorable?: true;
  /** Required on `user/message`, `assistant/message` and `tool/result`, forbidden elsewhere. */
  readonly surfaceOp?: SurfaceOp;
  /** The events this one was made from. Empty is not the same as absent. */
  readonly sourceEventSeqs?: readonly number[];
}

/** An event of the log. Its JSON text is stable: keys stand in this order, or in the one its writer gave. */
export interface SessionEvent {
  readonly type: string;
  /** Position in the session, from 0. */
  readonly seq: number;
  /** Epoch ms; never an order. */
  readonly time: number;
  readonly data: JsonValue;
  readonly ignorable?: true;
  readonly sourceEventSeqs?: readonly number[];
  readonly surfaceOp?: SurfaceOp;
}

const DELTA_KINDS: ReadonlySet<JsonValue> = new Set([
  "text-delta",
  "reasoning-delta",
  "tool-call-delta",
]);

/** True for a streamed delta: a chunk that adds to an open block. Everything else is a fact. */
export function isDelta(event: {
  readonly type: string;
  readonly data: JsonValue;
}): boolean {
  if (event.type !== "assistant/chunk") return false;
  const chunk = member(event.data, "chunk");
  return DELTA_KINDS.has(member(chunk, "type") ?? null);
}

/** Own property `key` of `value`, when that is an object that has it. */
export function member(
  value: JsonValue | undefined,
  key: string,
): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key)
    ? value[key]
    : undefined;
}
