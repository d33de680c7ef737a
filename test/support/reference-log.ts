/** Session logs as files, for tests: plain types of a log, and a reader and writer of its JSONL form. */

import { readFileSync } from "node:fs";
import { z } from "zod";
import { expandRecord, packEvents } from "./reference-rows.ts";

/** Immutable facts of a session: the first line of its file without `type`. */
export interface SessionHeaderLike {
  readonly version: 0;
  readonly id: string;
  readonly createdAt: number;
  readonly cwd?: string;
  readonly parentSession?: string;
  readonly seedLength?: number;
  readonly origin?: "subagent";
  readonly delegationDepth: number;
  readonly agentPreset?: string;
}

/** How an event enters the surface: at its end, or in place of the nodes from `start` to `end` (by position). */
export type SurfaceOpLike =
  | "append"
  | { readonly op: "replace"; readonly start: number; readonly end: number };

/** One event in its envelope; `data` is whatever `JSON.parse` gave. */
export interface EventLike {
  readonly type: string;
  readonly seq: number;
  readonly time: number;
  readonly data: unknown;
  readonly ignorable?: true;
  readonly sourceEventSeqs?: readonly number[];
  readonly surfaceOp?: SurfaceOpLike;
}

/** A whole session log. */
export interface LogLike {
  readonly header: SessionHeaderLike;
  readonly events: readonly EventLike[];
}

/** Reads a log file and expands its packed rows; throws on the first line that is neither event nor row. */
export function readLog(path: string): LogLike {
  const lines = readFileSync(path, "utf8").split("\n");
  if (lines.pop() !== "") throw new Error(`${path} does not end in LF`);
  const [first, ...records] = lines.map((line): unknown => JSON.parse(line));
  const { type: _session, ...header } = headerLine.parse(first);
  return { header, events: records.flatMap(expandRecord) };
}

/** Writes a log as the text of a file, with every run of three or more like deltas in one packed row. */
export function formatLog(log: LogLike): string {
  const records = [
    { type: "session", ...log.header },
    ...packEvents(log.events),
  ];
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

const headerLine = z.custom<SessionHeaderLike & { type: "session" }>(
  (line) =>
    z.looseObject({ type: z.literal("session") }).safeParse(line).success,
);
