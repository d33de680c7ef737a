/** A stored session as the lines of a JSONL log: its header, then its events, deltas packed or one by one. */
import type { SessionEvent } from "../events/event.ts";
import { isRun, RunPacker, type ChunkRun } from "../events/pack-runs.ts";
import { keyOrderOf } from "../events/key-order.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import type { SessionStore } from "../session-store.ts";

export interface ExportFormat {
  /** Each block's deltas in one line, as long as it goes on; else one event a line. */
  readonly packed: boolean;
}

/**
 * Yields lines, each with its line feed, of the session as it is when the export starts. The same session gives the
 * same lines, whatever appends it came in.
 * @throws SessionNotFoundError, SessionDeletedError
 */
export async function* exportLines(
  store: SessionStore,
  sessionId: string,
  { packed }: ExportFormat,
): AsyncGenerator<string> {
  const { header, head } = await store.session(sessionId);
  yield lineOf({ type: "session", ...header });
  const packer = new RunPacker<SessionEvent>(packed ? undefined : 1);
  for await (const event of store.read(sessionId, { toSeq: head })) {
    // A packed row has no place for an order of keys other than the usual one.
    const isUsual = keyOrderOf(event) === null;
    for (const row of isUsual ? packer.add(event) : packer.end())
      yield lineOf(recordOf(row));
    if (!isUsual) yield lineOf(event);
  }
  for (const row of packer.end()) yield lineOf(recordOf(row));
}

function recordOf(row: ChunkRun | SessionEvent): object {
  if (!isRun(row)) return row;
  const { type, seq0, time0, data } = row;
  return { type, seq0, time0, data };
}

function lineOf(record: object): string {
  return `${stringifyJson(record)}\n`;
}
