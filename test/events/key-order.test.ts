import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/events/event.ts";
import { inKeyOrder, keyOrderOf } from "../../src/events/key-order.ts";
import { runs } from "../support/property-runs.ts";

/** With every key that an event can have, in the order in which we write them. */
const EVENT: SessionEvent = {
  type: "assistant/message",
  seq: 7,
  time: 15,
  data: { b: 1, a: { type: 2 } },
  ignorable: true,
  sourceEventSeqs: [4],
  surfaceOp: "append",
};

const PLAIN: SessionEvent = { type: "x/new", seq: 0, time: 5, data: null };

/** Any order of the keys of an event that has some of the optional ones. */
const anyOrder = fc
  .subarray(["ignorable", "sourceEventSeqs", "surfaceOp"])
  .chain((optional) => {
    const keys = ["type", "seq", "time", "data", ...optional];
    return fc.shuffledSubarray(keys, { minLength: keys.length });
  });

describe("the order of an event's keys", () => {
  it("is given back, whatever it was", () => {
    fc.assert(
      fc.property(anyOrder, (keys) => {
        const written = pick(keys);
        const canonical = pick(
          Object.keys(EVENT).filter((key) => keys.includes(key)),
        );

        const read = inKeyOrder(canonical, keyOrderOf(written));

        expect(JSON.stringify(read)).toBe(JSON.stringify(written));
        expect(read).toStrictEqual(canonical);
      }),
      { numRuns: runs(200) },
    );
  });

  it("is not noted where it is ours", () => {
    expect(keyOrderOf(EVENT)).toBeNull();
    expect(keyOrderOf(PLAIN)).toBeNull();
  });

  it("is noted where it is another", () => {
    expect(keyOrderOf({ data: 1, type: "x", seq: 0, time: 0 })).toBe(
      "data,type,seq,time",
    );
  });

  it.each([
    ["seq", { data: 1, type: "x", time: 0 }],
    ["time", { data: 1, type: "x", seq: 0 }],
    ["data", { time: 0, type: "x", seq: 0 }],
    ["type", { time: 0, data: 1, seq: 0 }],
    ["any seq but undefined", { data: 1, type: "x", seq: undefined, time: 0 }],
    ["any time but undefined", { data: 1, type: "x", seq: 0, time: undefined }],
  ])("is ours for an event without %s", (_what, event) => {
    expect(keyOrderOf(event)).toBeNull();
  });

  it("has no place for a key that is undefined, as JSON has none", () => {
    const event = {
      ...PLAIN,
      surfaceOp: undefined,
      sourceEventSeqs: undefined,
    };

    expect(keyOrderOf(event)).toBeNull();
  });

  it("leaves the event itself alone when there is none", () => {
    expect(inKeyOrder(EVENT, null)).toBe(EVENT);
  });
});

/** The event with these of its keys, in this order. */
function pick(keys: readonly string[]): SessionEvent {
  return Object.assign(
    Object.create(Object.prototype),
    ...keys.map((key) => ({ [key]: Reflect.get(EVENT, key) })),
  );
}
