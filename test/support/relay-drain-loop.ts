/** Relays that drain without a pause and take the lead from one another, and writers that wait for their drains. */
import { randomUUID } from "node:crypto";
import type { Db } from "../../src/db/connect.ts";
import { drainOutbox } from "../../src/relay/drain.ts";
import { takeLease } from "../../src/relay/lease.ts";

/** Short enough that a relay loses the lead while the other one drains. */
const TTL_MS = 3;

export class DrainLoop {
  #ended = false;
  #waiting: (() => void)[] = [];
  readonly #done: Promise<unknown>;

  /** One relay for each list of limits, each list used over and over. The lease must be free. */
  constructor(db: Db, limits: readonly (readonly number[])[]) {
    this.#done = Promise.all(limits.map((list) => this.#drain(db, list)));
  }

  /** Returns when so many drains have ended, or the loop has. */
  async passed(drains: number): Promise<void> {
    for (let count = 0; count < drains && !this.#ended; count += 1)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#done;
  }

  async #drain(db: Db, limits: readonly number[]): Promise<void> {
    const holder = randomUUID();
    for (let at = 0; !this.#ended; at += 1) {
      const fence = await takeLease(db, holder, TTL_MS);
      const limit = limits[at % limits.length] ?? 1;
      if (fence === null) continue;
      const request = { holder, fence, limit, ttlMs: TTL_MS };
      if ((await drainOutbox(db, request)) !== null) this.#release();
    }
    this.#release();
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
