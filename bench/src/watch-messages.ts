/** Looks into `turnlog_read.messages` for committed prompts, and notes how long each took to be seen. */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

export interface MessageWatch {
  /** Says that an append was acknowledged just now. */
  readonly committed: (sessionId: string, seq: number) => void;
  /** Waits until all of them have been seen, and returns the waits in ms. */
  readonly finish: () => Promise<readonly number[]>;
}

/** How often the view is looked at; what becomes visible in between is seen this much later. */
const LOOK_MS = 2;

interface Commit {
  readonly sessionId: string;
  readonly seq: number;
  readonly at: number;
}

const LOOK = {
  name: "look",
  text: `
    select m.session_id || '/' || m.seq as key
    from unnest($1::text[], $2::bigint[]) as p (session_id, seq)
    join turnlog_read.messages m on m.session_id = p.session_id and m.seq = p.seq`,
};

export function watchMessages(client: pg.Client): MessageWatch {
  const pending = new Map<string, Commit>();
  const waits: number[] = [];
  const ending = new AbortController();
  const watching = watch(client, pending, waits, ending.signal);
  return {
    committed(sessionId, seq) {
      const at = performance.now();
      pending.set(`${sessionId}/${seq}`, { sessionId, seq, at });
    },
    async finish() {
      ending.abort();
      await watching;
      return waits;
    },
  };
}

async function watch(
  client: pg.Client,
  pending: Map<string, Commit>,
  waits: number[],
  ending: AbortSignal,
): Promise<void> {
  while (!ending.aborted || pending.size > 0) {
    await sleep(LOOK_MS);
    const asked = [...pending.values()];
    if (asked.length === 0) continue;
    const { rows } = await client.query<{ key: string }>({
      ...LOOK,
      values: [
        asked.map(({ sessionId }) => sessionId),
        asked.map(({ seq }) => seq),
      ],
    });
    const now = performance.now();
    for (const { key } of rows) {
      waits.push(now - (pending.get(key)?.at ?? now));
      pending.delete(key);
    }
  }
}
