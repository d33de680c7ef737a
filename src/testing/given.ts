/** A test of a projection in three sentences: given these events, when those come, then the rows are these. */
import { deepStrictEqual, throws } from "node:assert/strict";
import type { NewEvent } from "../events/event.ts";
import type { NewSessionHeader } from "../events/header.ts";
import type { Projection } from "../projector/projection.ts";
import { foldLog } from "./fold-log.ts";
import type { TableRows } from "./memory-tables.ts";
import { testLog } from "./test-log.ts";

export interface Given {
  /** More events, folded after those that are given. */
  when(events: readonly NewEvent[]): When;
}

export interface When {
  /**
   * Rows by table name, each whole, by the names of columns in TypeScript and in order of keys; tables that are left out
   * are not looked at. The session's id is `test-session`.
   * @throws AssertionError that shows the difference
   */
  thenRows(rows: TableRows): void;
  /** The rows are those that the given events had made. */
  thenNothingChanges(): void;
  /** The fold throws at one of the later events; the engine would stop before it, in this session. */
  thenThrows(error?: RegExp): void;
}

/**
 * @example
 * given(toolStats, [call("c1")])
 *   .when([result("c1")])
 *   .thenRows({ tool_stats: [{ sessionId: "test-session", calls: 1, failures: 0 }] });
 */
export function given(
  projection: Projection,
  before: readonly NewEvent[],
  header: NewSessionHeader = {},
): Given {
  const rowsOf = (events: readonly NewEvent[]): TableRows =>
    foldLog(projection, testLog({ header, events }), before.length || 1).rows;
  return {
    when(then) {
      const all = [...before, ...then];
      return {
        thenRows(expected) {
          const rows = rowsOf(all);
          for (const [table, wanted] of Object.entries(expected))
            deepStrictEqual(rows[table], wanted);
        },
        thenNothingChanges() {
          deepStrictEqual(rowsOf(all), rowsOf(before));
        },
        thenThrows(error) {
          rowsOf(before);
          if (error === undefined) throws(() => rowsOf(all));
          else throws(() => rowsOf(all), error);
        },
      };
    },
  };
}
