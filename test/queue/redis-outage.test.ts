import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker as BullWorker } from "bullmq";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { QueueUnavailableError } from "../../src/errors.ts";
import { SessionId } from "../../src/events/ids.ts";
import { silentLogger } from "../../src/logger.ts";
import type { SessionHandler } from "../../src/queue/queue.ts";
import { probeRedis } from "../../src/queue/redis/probe-redis.ts";
import {
  createRedisQueue,
  type RedisQueue,
} from "../../src/queue/redis/redis-queue.ts";
import { openRedisQueue, untilReachable } from "../support/queue-drivers.ts";
import { isLong } from "../support/property-runs.ts";
import { recordingLogger } from "../support/redis-log.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { hasRedisServer, privateRedis } from "../support/redis.ts";
import { eventually, gate } from "../support/relay-waiting.ts";

const NOWHERE = "redis://127.0.0.1:1";
const AWAY = /^redis is not reachable;/;
let server: RedisServer;

beforeEach(async () => {
  if (hasRedisServer) server = await privateRedis();
});
afterEach(async () => {
  if (hasRedisServer) await server[Symbol.asyncDispose]();
});

const newSession = () => SessionId(randomUUID());

const openQueue = (given: Partial<Parameters<typeof openRedisQueue>[0]> = {}) =>
  openRedisQueue({ url: server.url, prefix: "outage", ...given });

function queueTo(url: string, logger = recordingLogger()): RedisQueue {
  return createRedisQueue({
    url,
    prefix: "p",
    name: "n",
    logger,
    onError: () => undefined,
  });
}

function noting(handled: string[]): SessionHandler {
  return (id) => {
    handled.push(id);
    return Promise.resolve();
  };
}

async function refusal(queue: RedisQueue): Promise<QueueUnavailableError> {
  const error: unknown = await queue.ring([newSession()]).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof QueueUnavailableError)) throw error;
  return error;
}

function untilAway(queue: RedisQueue): Promise<void> {
  return eventually(() => expect(queue.isReachable()).toBe(false));
}

async function withClient<T>(work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(server.url);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

describe("without a Redis", () => {
  it("a ring is refused at once, with an error that may be tried again and says what to do", async () => {
    await using queue = queueTo(NOWHERE);

    const error = await refusal(queue);

    expect(error).toMatchObject({ code: "QUEUE_UNAVAILABLE", retryable: true });
    expect(error.message).toContain("TURNLOG_REDIS_URL");
  });

  it("the outage is told once, with its reason, however often it is tried", async () => {
    const logger = recordingLogger();
    const reasons: unknown[] = [];
    await using queue = queueTo(NOWHERE, {
      ...logger,
      warn(fields, message) {
        reasons.push(fields);
        logger.warn(fields, message);
      },
    });
    queue.run(() => Promise.resolve(), { concurrency: 2 });
    for (let count = 0; count < 30; count += 1) await refusal(queue);
    await eventually(() => expect(logger.messages).toHaveLength(1));

    expect(logger.messages[0]).toMatch(AWAY);
    expect(reasons).toEqual([
      { reason: expect.stringContaining("ECONNREFUSED") },
    ]);
  });

  it("the queue can be closed", async () => {
    const queue = queueTo(NOWHERE);
    queue.run(() => Promise.resolve(), { concurrency: 2 });

    await expect(queue.close()).resolves.toBeUndefined();
  });
});

describe.runIf(hasRedisServer)("when Redis goes away", () => {
  it.each(["killed", "frozen"] as const)(
    "(%s) rings are refused, and work again when it is back",
    async (how) => {
      const handled: string[] = [];
      await using queue = await openQueue();
      queue.run(noting(handled), { concurrency: 2 });
      const before = newSession();
      await queue.ring([before]);
      await eventually(() => expect(handled).toEqual([before]));

      if (how === "killed") await server.kill();
      else server.freeze();
      await refusal(queue);
      await refusal(queue);
      if (how === "killed") await server.restart();
      else server.thaw();
      await untilReachable(queue);
      const after = newSession();
      await queue.ring([after]);

      await eventually(() => expect(handled).toContain(after));
    },
  );

  it("an outage is one line in the log, and its end another", async () => {
    const logger = recordingLogger();
    await using queue = await openQueue({ logger });
    queue.run(() => Promise.resolve(), { concurrency: 2 });

    for (let outages = 1; outages <= 2; outages += 1) {
      await server.kill();
      await untilAway(queue);
      for (let count = 0; count < 20; count += 1) await refusal(queue);
      await server.restart();
      await untilReachable(queue);
    }

    expect(logger.messages).toEqual([
      "redis is reachable",
      expect.stringMatching(AWAY),
      "redis is reachable again",
      expect.stringMatching(AWAY),
      "redis is reachable again",
    ]);
  });

  it("a session in hand is finished, though Redis came back empty, and the next ones are handled", async () => {
    const go = gate();
    const begun: string[] = [];
    const ended: string[] = [];
    const errors: unknown[] = [];
    await using queue = await openQueue({
      onError: (error) => errors.push(error),
    });
    const [first, second] = [newSession(), newSession()];
    queue.run(
      async (id) => {
        begun.push(id);
        if (id === first) await go.opened;
        ended.push(id);
      },
      { concurrency: 1 },
    );
    await queue.ring([first]);
    await eventually(() => expect(begun).toEqual([first]));

    await server.restart();
    await eventually(async () => {
      await queue.ring([second]);
    });
    go.open();

    await eventually(() => expect(ended).toEqual([first, second]));
    expect(errors).toEqual([]);
  });

  it("a flush loses rings and nothing else: the same session can be rung for again", async () => {
    const go = gate();
    const handled: string[] = [];
    await using queue = await openQueue();
    const id = newSession();
    queue.run(
      async (session) => {
        handled.push(session);
        await go.opened;
      },
      { concurrency: 1 },
    );
    await queue.ring([id]);
    await eventually(() => expect(handled).toEqual([id]));
    await queue.ring([id]);

    await withClient((client) => client.flushall());
    go.open();
    await queue.ring([id]);

    await eventually(() => expect(handled).toEqual([id, id]));
  });

  it.each(["killed", "frozen"] as const)(
    "(%s) closing waits for the sessions in hand and ends nevertheless",
    async (how) => {
      const go = gate();
      const begun: string[] = [];
      const ended: string[] = [];
      const queue = await openQueue();
      queue.run(
        async (id) => {
          begun.push(id);
          await go.opened;
          ended.push(id);
        },
        { concurrency: 2 },
      );
      await queue.ring([newSession(), newSession(), newSession()]);
      await eventually(() => expect(begun).toHaveLength(2));
      if (how === "killed") await server.kill();
      else server.freeze();
      let isClosed = false;

      const closing = queue.close().then(() => {
        isClosed = true;
      });
      await untilAway(queue);
      expect(isClosed).toBe(false);
      go.open();
      await closing;

      expect(ended).toEqual(begun);
      expect(begun).toHaveLength(2);
    },
  );

  it("what was in the hands of a closed queue is handled by another one", async () => {
    const name = "handed on";
    const leaving = await openQueue({ name });
    const handled: string[] = [];
    const ids = Array.from({ length: 20 }, newSession);
    leaving.run(noting(handled), { concurrency: 1 });
    await leaving.ring(ids);

    await leaving.close();
    await using next = await openQueue({ name });
    next.run(noting(handled), { concurrency: 1 });

    await eventually(() => expect(handled.toSorted()).toEqual(ids.toSorted()));
  });

  it.runIf(isLong)(
    "a job whose worker died is handled by another one, as a job and not only from Postgres",
    async () => {
      await using queue = await openQueue({ name: "orphan" });
      const id = newSession();
      await queue.ring([id]);
      await withClient(async (client) => {
        const connection = client.duplicate({ maxRetriesPerRequest: null });
        const options = { prefix: "outage", connection, lockDuration: 10_000 };
        const dead = new BullWorker("orphan", null, options);
        const job = await dead.getNextJob("its token");
        expect(job?.data).toEqual({ sessionId: id });
        await dead.close(true);
        connection.disconnect();
      });
      const handled: string[] = [];
      queue.run(noting(handled), { concurrency: 1 });

      await vi.waitFor(() => expect(handled).toEqual([id]), 40_000);
    },
  );

  it.runIf(isLong)(
    "a Redis that is frozen for longer than its connections are waited for is used again",
    async () => {
      const handled: string[] = [];
      await using queue = await openQueue();
      queue.run(noting(handled), { concurrency: 2 });
      const id = newSession();

      server.freeze();
      await sleep(40_000);
      server.thaw();
      await untilReachable(queue);
      await queue.ring([id]);

      await eventually(() => expect(handled).toEqual([id]));
    },
  );

  it("a Redis whose memory is full counts as away until it has room", async () => {
    await using queue = await openQueue();
    await withClient((client) => client.config("SET", "maxmemory", "1"));

    const error = await eventually(() => refusal(queue));
    await eventually(() => expect(queue.isReachable()).toBe(false));
    const probe = await probeRedis(server.url, "turnlog");
    await withClient((client) => client.config("SET", "maxmemory", "0"));
    await untilReachable(queue);

    expect(error.message).toMatch(/OOM|away/);
    expect(probe).toMatchObject({
      isReachable: false,
      reason: expect.stringContaining("OOM"),
    });
    await expect(queue.ring([newSession()])).resolves.toBeUndefined();
  });

  it("a Redis user who may not run scripts is refused with the reason, which is told once", async () => {
    await withClient((client) =>
      client.call(
        "ACL",
        "SETUSER",
        "poor",
        "on",
        ">pw",
        "~*",
        "+@all",
        "-@scripting",
      ),
    );
    const url = new URL(server.url);
    url.username = "poor";
    url.password = "pw";
    const logger = recordingLogger();
    await using queue = await openQueue({ url: url.href, logger });

    const error = await refusal(queue);
    await refusal(queue);

    expect(error.message).toContain("NOPERM");
    expect(logger.messages).toEqual([
      "redis is reachable",
      "redis refused a ring",
    ]);
  });

  it("a policy that drops keys is warned of once", async () => {
    await withClient((client) =>
      client.config("SET", "maxmemory-policy", "allkeys-lru"),
    );
    const logger = recordingLogger();
    await using queue = await openQueue({ logger });
    await eventually(() => expect(logger.messages).toHaveLength(2));
    await withClient((client) =>
      client.call("CLIENT", "KILL", "TYPE", "normal"),
    );
    await eventually(() =>
      expect(logger.messages).toContain("redis is reachable again"),
    );
    await queue.ring([newSession()]);

    const warnings = logger.messages.filter((line) =>
      line.includes("maxmemory-policy"),
    );
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("noeviction");
  });

  it("a wrong password is named as the reason", async () => {
    await withClient((client) => client.config("SET", "requirepass", "secret"));
    const reasons: unknown[] = [];
    const url = new URL(server.url);
    url.password = "wrong";
    await using _queue = createRedisQueue({
      url: url.href,
      prefix: "p",
      name: "n",
      logger: { ...silentLogger, warn: (fields) => reasons.push(fields) },
      onError: () => undefined,
    });

    await eventually(() =>
      expect(reasons).toEqual([
        { reason: expect.stringMatching(/WRONGPASS|NOAUTH/) },
      ]),
    );
  });
});
