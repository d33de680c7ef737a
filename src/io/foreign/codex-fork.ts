/**
 * Finds where a forked Codex rollout begins to be its own. It starts with a copy of its parent's lines, written at once
 * with new times, and nothing marks the end of the copy: so the best sign that the file has is taken.
 */
import { fieldAt, textAt } from "./fields.ts";
import type { ForeignLine } from "./foreign-lines.ts";

export interface OwnPart {
  /** Position of the first line that is not a copy; the number of lines when all are. */
  readonly start: number;
  /** How it was found, in words. */
  readonly sign: string;
}

/** Lines of a copy follow each other faster than a model answers. */
const MAX_PAUSE_MS = 1_000;

/** @param lines of the rollout; the first is its header */
export function findOwnPart(lines: readonly ForeignLine[]): OwnPart {
  return byTurnIds(lines) ?? byRepeatedHeader(lines) ?? byPause(lines);
}

/** Ids of turns are UUIDs of version 7: those of the parent's turns are older than the fork. */
function byTurnIds(lines: readonly ForeignLine[]): OwnPart | null {
  const [header] = lines;
  const forkedAt =
    uuidTime(textAt(header?.value, "payload", "id")) ?? header?.time ?? 0;
  const times = lines.map(({ value }) =>
    uuidTime(textAt(value, "payload", "turn_id")),
  );
  if (times.every((time) => time === null)) return null;
  const start = times.findIndex((time) => time !== null && time >= forkedAt);
  return {
    start: start === -1 ? lines.length : start,
    sign: "the first turn whose id is younger than the fork",
  };
}

/** Some versions write the fork's own header again behind the copy. */
function byRepeatedHeader(lines: readonly ForeignLine[]): OwnPart | null {
  const id = fieldAt(lines[0]?.value, "payload", "id");
  const start = lines.findLastIndex(
    ({ value }) =>
      value["type"] === "session_meta" &&
      fieldAt(value, "payload", "id") === id,
  );
  return start <= 0 ? null : { start, sign: "the fork's header, repeated" };
}

function byPause(lines: readonly ForeignLine[]): OwnPart {
  const start = lines.findIndex(({ time }, at) => {
    const before = lines[at - 1];
    return before !== undefined && time - before.time > MAX_PAUSE_MS;
  });
  return {
    start: start === -1 ? lines.length : start,
    sign: "the first pause of more than a second, for want of a better sign",
  };
}

const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/i;

/** Epoch ms in a UUID of version 7; null for any other text. */
function uuidTime(id: string | null): number | null {
  const [, high, low] = UUID_V7.exec(id ?? "") ?? [];
  return high === undefined || low === undefined
    ? null
    : Number.parseInt(high + low, 16);
}
