/** Rows that a projection makes of a few events, given as types and data. */
import type { SessionEvent } from "../../src/events/event.ts";
import { parseHeader } from "../../src/events/header.ts";
import type { Projection } from "../../src/projector/projection.ts";
import type { RowValues } from "../../src/projector/row-buffer.ts";
import { pureFold } from "./pure-fold.ts";

/** Events get seqs from 0, and their seq as time unless they have one. */
export function foldedRows(
  projection: Projection,
  table: string,
  given: readonly object[],
  header: object = {},
): readonly RowValues[] {
  const events: SessionEvent[] = given.map((event, seq) =>
    JSON.parse(JSON.stringify({ time: seq, ...event, seq })),
  );
  const named = { version: 0, id: "s", createdAt: 1, delegationDepth: 0 };
  const parsed = parseHeader({ ...named, ...header });
  return pureFold(projection, parsed, events)[table] ?? [];
}
