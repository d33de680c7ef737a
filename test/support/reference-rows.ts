/**
 * Packed chunk rows, for tests: three or more consecutive deltas of one block on one line.
 * Written apart from the product's codec on purpose, so that each can be checked against the other.
 */

import { z } from "zod";
import type { EventLike } from "./reference-log.ts";

/** Gives the events one parsed line stands for: the members of a packed row, or the event itself. */
export function expandRecord(record: unknown): EventLike[] {
  const { type } = z.object({ type: z.string() }).parse(record);
  if (!type.endsWith("-chunks")) return [eventRecord.parse(record)];
  const { seq0, time0, data } = packedRow.parse(record);
  const { turn, step, index, dt } = data;
  const texts = "args" in data ? data.args : data.texts;
  if (dt.length !== texts.length - 1) throw new Error("wrong length of dt");
  let time = time0;
  return texts.map((text, at) => {
    time += dt[at - 1] ?? 0;
    const delta = { type: type.replace("chunks", "delta"), index };
    const chunk =
      "args" in data
        ? { ...delta, ...callOf(data), argumentsDelta: text }
        : { ...delta, text };
    const seq = seq0 + at;
    return { type: "assistant/chunk", seq, time, data: { turn, step, chunk } };
  });
}

/** Gives the lines for events: a packed row for each run of three or more like deltas, else the event. */
export function packEvents(events: readonly EventLike[]): object[] {
  const records: object[] = [];
  let run: Delta[] = [];
  const endRun = (): void => {
    const [first] = run;
    if (first && run.length >= 3) records.push(rowOf(first, run));
    else records.push(...run.map(({ event }) => event));
    run = [];
  };
  for (const event of events) {
    const delta = deltaOf(event, run.at(-1));
    if (!delta?.joins) endRun();
    if (delta) run.push(delta);
    else records.push(event);
  }
  endRun();
  return records;
}

/** A delta that may stand in a row, and how it relates to the delta right before it. */
interface Delta {
  readonly event: EventLike;
  readonly data: z.infer<typeof deltaEvent>["data"];
  /** Equal for deltas of the same block and kind. */
  readonly key: string;
  readonly gapMs: number;
  readonly joins: boolean;
}

function deltaOf(event: EventLike, last: Delta | undefined): Delta | undefined {
  const parsed = deltaEvent.safeParse(event);
  if (!parsed.success) return undefined;
  const { data } = parsed.data;
  const { turn, step, chunk } = data;
  const key = JSON.stringify([
    [turn, step, chunk.index, chunk.type],
    "id" in chunk ? callOf(chunk) : null,
  ]);
  const gapMs = event.time - (last?.event.time ?? event.time);
  const joins =
    last?.key === key &&
    last.event.seq + 1 === event.seq &&
    Number.isSafeInteger(gapMs);
  return { event, data, key, gapMs, joins };
}

function rowOf(first: Delta, run: readonly Delta[]): object {
  const { turn, step, chunk } = first.data;
  const texts = run.map(({ data }) =>
    "text" in data.chunk ? data.chunk.text : data.chunk.argumentsDelta,
  );
  const dt = run.slice(1).map(({ gapMs }) => gapMs);
  const place = { turn, step, index: chunk.index, dt };
  return {
    type: chunk.type.replace("delta", "chunks"),
    seq0: first.event.seq,
    time0: first.event.time,
    data:
      chunk.type === "tool-call-delta"
        ? { ...place, ...callOf(chunk), args: texts }
        : { ...place, texts },
  };
}

function callOf({
  id,
  name,
}: {
  id: string;
  name?: string | undefined;
}): object {
  return name === undefined ? { id } : { id, name };
}

const integer = z.int();
const step = { turn: z.number(), step: z.number() };
const call = { id: z.string(), name: z.string().optional() };
const strings = z.array(z.string()).min(1);
const rowPlace = { ...step, index: z.number(), dt: z.array(integer) };
const rowEnvelope = { seq0: integer.nonnegative(), time0: integer };

const packedRow = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.enum(["text-chunks", "reasoning-chunks"]),
    ...rowEnvelope,
    data: z.strictObject({ ...rowPlace, texts: strings }),
  }),
  z.strictObject({
    type: z.literal("tool-call-chunks"),
    ...rowEnvelope,
    data: z.strictObject({ ...rowPlace, ...call, args: strings }),
  }),
]);

const deltaEvent = z.strictObject({
  type: z.literal("assistant/chunk"),
  seq: integer.nonnegative(),
  time: integer,
  data: z.strictObject({
    ...step,
    chunk: z.discriminatedUnion("type", [
      z.strictObject({
        type: z.enum(["text-delta", "reasoning-delta"]),
        index: z.number(),
        text: z.string(),
      }),
      z.strictObject({
        type: z.literal("tool-call-delta"),
        index: z.number(),
        ...call,
        argumentsDelta: z.string(),
      }),
    ]),
  }),
});

/** Only asks for an envelope; the event stays the very object that was parsed. */
const eventRecord = z.custom<EventLike>(
  (record) =>
    z
      .looseObject({ type: z.string(), seq: integer, time: integer })
      .safeParse(record).success,
);
