import { randomUUID } from "node:crypto";
import { Queue as BullQueue } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { QueueUnavailableError } from "../../src/errors.ts";
import { SessionId } from "../../src/events/ids.ts";
import type { SessionHandler } from "../../src/queue/queue.ts";
import { openRedisQueue } from "../support/queue-drivers.ts";
import { hasRedis, sharedRedisUrl, useRedisPrefix } from "../support/redis.ts";
import { eventually, gate } from "../support/relay-waiting.ts";

const prefix = useRedisPrefix();

const openQueue = (
  given: Partial<Parameters<typeof openRedisQueue>[0]> & { name: string },
) => openRedisQueue({ url: sharedRedisUrl(), prefix, ...given });

const newSession = () => SessionId(randomUUID());

function noting(handled: string[]): SessionHandler {
  return (id) => {
    handled.push(id);
    return Promise.resolve();
  };
}

/** BullMQ's own view of a store's queue. */
function bullQueue(name: string): BullQueue {
  const { hostname, port } = new URL(sharedRedisUrl());
  return new BullQueue(name, {
    prefix,
    connection: { host: hostname, port: Number(port) },
  });
}

describe.runIf(hasRedis)("the queue on Redis", () => {
  it("never hands a session to two takers at a time; rings meanwhile make one more handling", async () => {
    const name = randomUUID();
    const takers = await Promise.all([1, 2, 3].map(() => openQueue({ name })));
    const id = newSession();
    const go = gate();
    let times = 0;
    let inHand = 0;
    let most = 0;
    const handler = async (): Promise<void> => {
      times += 1;
      inHand += 1;
      most = Math.max(most, inHand);
      await go.opened;
      inHand -= 1;
    };
    for (const taker of takers) taker.run(handler, { concurrency: 2 });
    const [first] = takers;
    await first?.ring([id]);
    await eventually(() => expect(times).toBe(1));

    for (let count = 0; count < 10; count += 1)
      await Promise.all(takers.map((taker) => taker.ring([id, id])));
    go.open();

    await eventually(() => expect(times).toBe(2));
    const last = newSession();
    await first?.ring([last]);
    await eventually(() => expect(times).toBe(3));
    for (const taker of takers) await taker.close();
    expect(most).toBe(1);
    expect(times).toBe(3);
  });

  it("keeps nothing of what was handled, whether the handler failed or not", async () => {
    const name = randomUUID();
    await using queue = await openQueue({ name });
    const bells = bullQueue(name);
    const handled: string[] = [];
    const ids = [newSession(), newSession(), newSession()];
    queue.run(
      (id) => {
        handled.push(id);
        return id === ids[0]
          ? Promise.reject(new Error("failed"))
          : Promise.resolve();
      },
      { concurrency: 1 },
    );

    await queue.ring(ids);
    await eventually(() => expect(handled).toHaveLength(3));

    await eventually(async () =>
      expect(await bells.getJobCounts()).toMatchObject({
        active: 0,
        waiting: 0,
        completed: 0,
        failed: 0,
        delayed: 0,
      }),
    );
    await bells.close();
  });

  it("carries the session id and nothing else", async () => {
    const name = randomUUID();
    await using queue = await openQueue({ name });
    const bells = bullQueue(name);
    const id = newSession();

    await queue.ring([id]);

    const jobs = await bells.getJobs(["waiting"]);
    expect(jobs.map((job) => job.data)).toEqual([{ sessionId: id }]);
    await bells.close();
  });

  it("drops a job that is no doorbell, tells of it, and goes on", async () => {
    const name = randomUUID();
    const errors: unknown[] = [];
    const handled: string[] = [];
    await using queue = await openQueue({
      name,
      onError: (error) => errors.push(error),
    });
    const bells = bullQueue(name);
    await bells.addBulk(
      [{}, null, [], { sessionId: "" }, { sessionId: "a\0b" }].map((data) => ({
        name: "other",
        data,
      })),
    );
    const id = newSession();
    await queue.ring([id]);

    queue.run(noting(handled), { concurrency: 1 });

    await eventually(() => expect(handled).toEqual([id]));
    expect(errors).toHaveLength(5);
    await bells.close();
  });

  it("keeps two stores in one Redis apart, by name and by prefix", async () => {
    const id = newSession();
    const rung: string[] = [];
    const others: string[] = [];
    await using queue = await openQueue({ name: "store a" });
    await using sibling = await openQueue({ name: "store b" });
    await using copy = await openQueue({
      name: "store a",
      prefix: `${prefix}:copy`,
    });
    sibling.run(noting(others), { concurrency: 1 });
    copy.run(noting(others), { concurrency: 1 });
    queue.run(noting(rung), { concurrency: 1 });

    await queue.ring([id]);
    await eventually(() => expect(rung).toEqual([id]));
    await sibling.ring([id]);
    await copy.ring([id]);

    await eventually(() => expect(others).toEqual([id, id]));
    expect(rung).toEqual([id]);
  });

  it("lets go of its connections when it is closed", async () => {
    const name = randomUUID();
    const queue = await openQueue({ name });
    queue.run(() => Promise.resolve(), { concurrency: 1 });
    const client = new Redis(sharedRedisUrl());
    const marker = Buffer.from(name).toString("base64");
    const own = async () =>
      String(await client.client("LIST"))
        .split("\n")
        .filter((line) => line.includes(marker));
    await eventually(async () => expect(await own()).not.toEqual([]));

    await queue.close();

    await eventually(async () => expect(await own()).toEqual([]));
    client.disconnect();
  });

  it("can't be rung once it is closed", async () => {
    const queue = await openQueue({ name: randomUUID() });
    await queue.close();

    await expect(queue.ring([newSession()])).rejects.toThrow(
      QueueUnavailableError,
    );
  });
});
