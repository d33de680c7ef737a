/** Folds a log as the engine does, in memory: in slices, each of which begins from the state as its checkpoint has it. */
import { isDelta } from "../events/event.ts";
import type { Projection } from "../projector/projection.ts";
import { RowBuffer } from "../projector/row-buffer.ts";
import { MemoryTables, type TableRows } from "./memory-tables.ts";
import type { TestLog } from "./test-log.ts";

export interface Folded {
  readonly rows: TableRows;
  /** JSON text of the state. */
  readonly state: string;
}

/**
 * @param sliceEvents events between two checkpoints; after each the fold goes on in another process
 * @throws what the fold throws
 */
export function foldLog(
  projection: Projection,
  { header, events }: TestLog,
  sliceEvents: number = Number.POSITIVE_INFINITY,
): Folded {
  const tables = new MemoryTables(projection.tables);
  const buffer = new RowBuffer();
  let fold = projection.fold(header, "", buffer.add);
  let inSlice = 0;
  for (const event of events) {
    if (inSlice === sliceEvents) {
      tables.write(buffer);
      fold = projection.fold(header, fold.state(), buffer.add);
      inSlice = 0;
    }
    inSlice += 1;
    if (isDelta(event) && !fold.wantsDeltas()) continue;
    fold.apply({ ...event, sessionId: header.id });
  }
  tables.write(buffer);
  return { rows: tables.rows(), state: fold.state() };
}
