import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EventInvalidError,
  EventTypeUnknownError,
  RequestNotFoundError,
} from "../../src/errors.ts";
import type { DerivedMessage } from "../../src/events/derive-messages.ts";
import type { SessionEvent } from "../../src/events/event.ts";
import { SessionId } from "../../src/events/ids.ts";
import { readMessagesAt } from "../../src/log/messages-at.ts";
import {
  readRequestAt,
  type RecordedRequest,
} from "../../src/log/request-at.ts";
import { useTestDatabase } from "../support/database.ts";
import { playBoth, type Played } from "../support/differential-play.ts";
import { openReference } from "../support/differential-reference.ts";
import { newEvent } from "../support/differential-store.ts";
import { collect } from "../support/events.ts";
import { besides, type AnyEvent } from "../support/illegal-changes.ts";
import { brokenLog } from "../support/illegal-events.ts";
import { runs } from "../support/property-runs.ts";
import type { SessionHeaderLike } from "../support/reference-log.ts";

const database = useTestDatabase();

const sends = fc.record({
  broken: brokenLog({ withEnvelopes: false, maxChanges: 5 }),
  sizes: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
  cuts: fc.array(fc.nat({ max: 150 }), { minLength: 1, maxLength: 3 }),
});

describe(
  "appends to a store, in batches of any size",
  { timeout: 600_000 },
  () => {
    it("are refused whole where one event is refused by itself, and without it they are stored", async () => {
      await fc.assert(
        fc.asyncProperty(sends, async ({ broken, sizes, cuts }) => {
          const { header, events } = broken.log;
          const attempts = besides(events, broken.changes);
          const { played, taken } = playBoth(header, attempts);
          if (taken.length === 0) return;
          const id = SessionId(await send(header, played, sizes));
          const stored = await collect(database().store, id);
          expect(stored.map(wordsOf)).toEqual(
            taken.map(({ event }) => wordsOf(event)),
          );
          const report = await database().store.check(id);
          expect(report.findings.filter(isRefusal)).toEqual([]);
          for (const cut of cuts) {
            await expectSameMessages(id, header, stored.slice(0, cut + 1));
            await expectSameRequest(id, header, stored, cut);
          }
        }),
        { numRuns: runs(25) },
      );
    });
  },
);

/** After the last of these events the model sees the same. */
async function expectSameMessages(
  id: SessionId,
  header: SessionHeaderLike,
  events: readonly SessionEvent[],
): Promise<void> {
  using theirs = openReference(header, plain(events));
  const messages = await readMessagesAt(database().db, id, events.length - 1);
  expect(messages.map(textOf)).toEqual(theirs.messages);
}

/** A request of the log carries what the reference derives from the events before it. */
async function expectSameRequest(
  id: SessionId,
  header: SessionHeaderLike,
  events: readonly SessionEvent[],
  n: number,
): Promise<void> {
  const request = await anyRequest(id, events, n);
  if (request === null) return;
  using theirs = openReference(
    header,
    plain(events.slice(0, request.beforeSeq)),
  );
  expect(request.messages.map(textOf)).toEqual(theirs.messages);
  expect(request.header).toEqual(theirs.requestHeader);
}

/** Sends all attempts to a new session; each refused one must be named, and is left out when the batch is sent again. */
async function send(
  header: SessionHeaderLike,
  played: readonly Played[],
  sizes: readonly number[],
): Promise<string> {
  const id = randomUUID();
  const { version: _version, id: _id, ...given } = header;
  let next = 0;
  for (let round = 0, head = 0; next < played.length; round += 1) {
    const size = sizes[round % sizes.length] ?? 1;
    let batch = played.slice(next, next + size);
    next += size;
    for (;;) {
      const wrong = await append(batch);
      if (wrong === null) break;
      batch = batch.toSpliced(wrong, 1);
    }
    expect(batch.map(({ rule }) => rule)).toEqual(batch.map(() => null));
    head += batch.length;

    async function append(events: readonly Played[]): Promise<number | null> {
      try {
        await database().store.append(
          id,
          events.map(({ event }) => newEvent(event)),
          { expectedSeq: head, header: given },
        );
        return null;
      } catch (error) {
        const { index, rule } = wrongIn(error, head);
        expect(events[index]?.rule).toBe(rule);
        return index;
      }
    }
  }
  return id;
}

function wrongIn(
  error: unknown,
  head: number,
): { readonly index: number; readonly rule: string } {
  if (error instanceof EventTypeUnknownError)
    return { index: (error.seq ?? head) - head, rule: "unknown-type" };
  if (error instanceof EventInvalidError)
    return { index: error.index ?? -1, rule: error.rule };
  throw error;
}

/** A request of the log, by chance; null when the log has none there. */
async function anyRequest(
  id: SessionId,
  events: readonly SessionEvent[],
  n: number,
): Promise<RecordedRequest | null> {
  const steps = events.filter(({ type }) => type === "step/start");
  const step = steps[n % steps.length];
  if (step === undefined) return null;
  const place: { turn: number; step: number } = JSON.parse(
    JSON.stringify(step.data),
  );
  try {
    return await readRequestAt(database().db, id, {
      ...place,
      attempt: 1 + (n % 2),
    });
  } catch (error) {
    if (error instanceof RequestNotFoundError) return null;
    throw error;
  }
}

/** Findings that an append would refuse; the others need a look at the whole log. */
function isRefusal({ rule }: { readonly rule: string }): boolean {
  return !["unique-id", "repeated-call-id", "split-tool-pair"].includes(rule);
}

function plain(events: readonly SessionEvent[]) {
  return events.map((event) => ({ ...event }));
}

function wordsOf(event: SessionEvent | AnyEvent): string {
  const { type, data, time, surfaceOp, sourceEventSeqs } = event;
  return JSON.stringify({ type, data, time, surfaceOp, sourceEventSeqs });
}

function textOf({ message }: DerivedMessage): string {
  return JSON.stringify(message);
}
