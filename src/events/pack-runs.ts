/**
 * Packs deltas: three or more consecutive ones of one block become one row that keeps each text and each
 * time. Only deltas whose JSON text the expansion gives back exactly are packed: canonical keys in canonical order,
 * nothing more.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { StorageTag } from "./vocabulary.ts";

/** Fewer deltas than this are stored one by one. */
export const MIN_RUN_EVENTS = 3;

export interface ChunkRun {
  readonly type: StorageTag;
  /** Seq and time of the first delta. */
  readonly seq0: number;
  readonly time0: number;
  readonly eventCount: number;
  readonly data: JsonObject;
}

/** An event as far as packing looks at it. */
export interface PackableEvent {
  readonly type: string;
  readonly seq: number;
  readonly time: number;
  readonly data: JsonValue;
  readonly ignorable?: boolean | undefined;
  /** Not null where the keys stand in an order that expansion would not give back. */
  readonly keyOrder?: string | null;
}

/** The part of a delta that all members of a run share, and the text that differs. */
interface Delta {
  readonly tag: StorageTag;
  readonly turn: number;
  readonly step: number;
  readonly index: number;
  readonly id: string | null;
  readonly name: string | null;
  readonly text: string;
}

/** Yields runs for deltas that can be packed, every other event as it is. */
export function* packRuns<E extends PackableEvent>(
  events: Iterable<E>,
  maxRunEvents: number = Number.POSITIVE_INFINITY,
): Generator<ChunkRun | E> {
  const packer = new RunPacker<E>(maxRunEvents);
  for (const event of events) yield* packer.add(event);
  yield* packer.end();
}

/** Packs events that come one by one, in order. Holds the members of the run that may still go on. */
export class RunPacker<E extends PackableEvent> {
  readonly #maxRunEvents: number;
  #members: E[] = [];
  #deltas: Delta[] = [];

  constructor(maxRunEvents: number = Number.POSITIVE_INFINITY) {
    this.#maxRunEvents = maxRunEvents;
  }

  /** Yields what is complete now. */
  *add(event: E): Generator<ChunkRun | E> {
    const delta = readDelta(event);
    if (delta === null || !this.#goesOn(event, delta)) yield* this.end();
    if (delta === null) yield event;
    else {
      this.#members.push(event);
      this.#deltas.push(delta);
    }
  }

  /** Yields what is left. */
  *end(): Generator<ChunkRun | E> {
    yield* closeRun(this.#members, this.#deltas);
    this.#members = [];
    this.#deltas = [];
  }

  #goesOn(event: E, delta: Delta): boolean {
    const last = this.#members.at(-1);
    return (
      last !== undefined &&
      this.#members.length < this.#maxRunEvents &&
      sameBlock(this.#deltas[0], delta) &&
      event.seq === last.seq + 1 &&
      Number.isSafeInteger(event.time - last.time)
    );
  }
}

/** True for a run, false for an event. */
export function isRun<T extends object>(row: T): row is Extract<T, ChunkRun> {
  return "seq0" in row;
}

function* closeRun<E extends PackableEvent>(
  members: readonly E[],
  deltas: readonly Delta[],
): Generator<ChunkRun | E> {
  const [first] = members;
  const [delta] = deltas;
  if (
    first === undefined ||
    delta === undefined ||
    members.length < MIN_RUN_EVENTS
  ) {
    yield* members;
    return;
  }
  const dt = members
    .slice(1)
    .map((member, at) => member.time - (members[at]?.time ?? 0));
  const texts = deltas.map((member) => member.text);
  const { tag, turn, step, index, id, name } = delta;
  const head = { turn, step, index, dt };
  const named = name === null ? { id } : { id, name };
  const data: JsonObject =
    tag === "tool-call-chunks"
      ? { ...head, ...named, args: texts }
      : { ...head, texts };
  yield {
    type: tag,
    seq0: first.seq,
    time0: first.time,
    eventCount: members.length,
    data,
  };
}

function sameBlock(a: Delta | undefined, b: Delta): boolean {
  return (
    a !== undefined &&
    a.tag === b.tag &&
    a.turn === b.turn &&
    a.step === b.step &&
    a.index === b.index &&
    a.id === b.id &&
    a.name === b.name
  );
}

/** The delta in an event, or null when the event is none or has anything that expansion would not give back. */
function readDelta(event: PackableEvent): Delta | null {
  if (event.type !== "assistant/chunk" || !isJsonObject(event.data))
    return null;
  if (event.ignorable === true || (event.keyOrder ?? null) !== null)
    return null;
  const { turn, step, chunk } = event.data;
  if (!keysAre(event.data, "turn,step,chunk") || !isJsonObject(chunk))
    return null;
  if (typeof turn !== "number" || typeof step !== "number") return null;
  const { type, index } = chunk;
  if (typeof index !== "number") return null;
  if (type === "text-delta" || type === "reasoning-delta") {
    const { text } = chunk;
    if (!keysAre(chunk, "type,index,text") || typeof text !== "string")
      return null;
    return {
      tag: type === "text-delta" ? "text-chunks" : "reasoning-chunks",
      turn,
      step,
      index,
      id: null,
      name: null,
      text,
    };
  }
  if (type !== "tool-call-delta") return null;
  const { id, name, argumentsDelta: text } = chunk;
  const isNamed =
    keysAre(chunk, "type,index,id,name,argumentsDelta") &&
    typeof name === "string";
  if (!isNamed && !keysAre(chunk, "type,index,id,argumentsDelta")) return null;
  if (typeof id !== "string" || typeof text !== "string") return null;
  return {
    tag: "tool-call-chunks",
    turn,
    step,
    index,
    id,
    name: isNamed ? name : null,
    text,
  };
}

function keysAre(value: JsonObject, keys: string): boolean {
  return Object.keys(value).join() === keys;
}
