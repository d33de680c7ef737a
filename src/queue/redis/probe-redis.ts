/** One look at a Redis: whether it can be reached now and takes writes. */
import { Redis } from "ioredis";
import { writeAlive } from "./redis-link.ts";
import { ANSWER_MS, hastyOptions } from "./redis-options.ts";

export interface RedisProbe {
  readonly isReachable: boolean;
  /** Why not; null where it is. */
  readonly reason: string | null;
}

/**
 * Connects, writes a key that goes by itself, and disconnects; takes two answers' time, 4 s, at most. Never rejects.
 * @param prefix first part of the key
 */
export async function probeRedis(
  url: string,
  prefix: string,
): Promise<RedisProbe> {
  const client = new Redis(url, {
    ...hastyOptions,
    lazyConnect: true,
    retryStrategy: () => null,
  });
  let reason = "no answer";
  client.on("error", (error: Error) => {
    reason = error.message;
  });
  try {
    await Promise.race([
      client.connect().then(() => writeAlive(client, `${prefix}:probe`)),
      late(),
    ]);
    return { isReachable: true, reason: null };
  } catch (error) {
    if (reason === "no answer" && error instanceof Error)
      reason = error.message;
    return { isReachable: false, reason };
  } finally {
    client.disconnect();
  }
}

/** A server that accepts connections and says nothing would be waited for without an end. */
function late(): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(
      () => reject(new Error(`no answer within ${2 * ANSWER_MS} ms`)),
      2 * ANSWER_MS,
    ).unref();
  });
}
