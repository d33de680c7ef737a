/** What the engine relies on in a fold, as laws to be run by any test runner. */
import { deepStrictEqual, doesNotThrow, fail } from "node:assert/strict";
import { getTableColumns } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/pg-core";
import type { SessionEvent } from "../events/event.ts";
import type { Projection } from "../projector/projection.ts";
import { foldLog } from "./fold-log.ts";
import {
  exampleLogs,
  testLog,
  type TestLog,
  type TestSession,
} from "./test-log.ts";

/** One thing that must hold. */
export interface ProjectionLaw {
  /** A sentence: title of the test. */
  readonly name: string;
  /** Rejects with what is wrong where it does not hold. */
  readonly check: () => Promise<void>;
}

export interface ContractOptions {
  /** Sessions of your own, in addition to the example sessions of the package. */
  readonly sessions?: readonly TestSession[];
  /** Set to false to run over your own sessions alone. @defaultValue true */
  readonly examples?: boolean;
}

/** Slices that a log is cut into, each with another checkpoint behind it. */
const SLICES = [3, 20];

/**
 * The laws of a projection: those that make live tables equal to replayed ones, whatever is killed and however events come
 * in. Each runs over the example sessions and those that are given; give some whose events the projection handles.
 * @example for (const { name, check } of projectionContract(toolStats)) test(name, check);
 */
export function projectionContract(
  projection: Projection,
  options: ContractOptions = {},
): readonly ProjectionLaw[] {
  const logs = memo(async () => [
    ...(options.sessions ?? []).map(testLog),
    ...(options.examples === false ? [] : await exampleLogs()),
  ]);
  const forEach = (check: (log: TestLog) => void) => async () => {
    for (const log of await logs()) check(log);
  };
  return [
    {
      name: "an empty log has no rows",
      check: forEach(({ header }) => {
        const { rows } = foldLog(projection, { header, events: [] });
        deepStrictEqual(Object.values(rows).flat(), []);
      }),
    },
    {
      name: "replaying a log gives the same rows and the same state",
      check: forEach((log) =>
        deepStrictEqual(foldLog(projection, log), foldLog(projection, log)),
      ),
    },
    {
      name: "the rows are the same however the log is cut into batches",
      check: forEach((log) => {
        const { rows } = foldLog(projection, log);
        for (const slice of SLICES)
          deepStrictEqual(foldLog(projection, log, slice).rows, rows);
      }),
    },
    {
      name: "the fold goes on from the checkpoint behind every event",
      check: forEach((log) =>
        deepStrictEqual(foldLog(projection, log, 1), foldLog(projection, log)),
      ),
    },
    {
      name: "events of types that it does not know are no trouble",
      check: forEach((log) => {
        const strange = withUnknown(log);
        deepStrictEqual(
          foldLog(projection, strange, 3).rows,
          foldLog(projection, strange).rows,
        );
      }),
    },
    {
      name: "the fold looks at no clock and at no chance",
      check: forEach((log) => withoutWorld(() => foldLog(projection, log))),
    },
    {
      name: "the fold leaves its events as they are",
      check: forEach((log) => {
        const events = log.events.map(frozen);
        doesNotThrow(() => foldLog(projection, { ...log, events }));
      }),
    },
    {
      name: "the state survives JSON",
      check: forEach((log) => {
        const { state } = foldLog(projection, log);
        const again = projection.fold(log.header, state, () => undefined);
        deepStrictEqual(again.state(), state);
      }),
    },
    {
      name: "every row can be stored",
      check: forEach((log) => requireStorable(projection, log)),
    },
  ];
}

function memo<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** The log with events of an unknown type behind it: before others they would shift what those refer to. */
function withUnknown({ header, events }: TestLog): TestLog {
  const unknown = [0, 1].map((at) => ({
    type: "unknown/of-a-later-version",
    seq: events.length + at,
    time: 0,
    data: { text: "?", turn: -1, message: null },
    ignorable: true as const,
  }));
  return { header, events: [...events, ...unknown] };
}

/** Runs the fold while clock and chance throw. */
function withoutWorld(run: () => unknown): void {
  const { now } = Date;
  const { random } = Math;
  Date.now = refuse("Date.now");
  Math.random = refuse("Math.random");
  try {
    run();
  } finally {
    Date.now = now;
    Math.random = random;
  }
}

function refuse(what: string): () => never {
  return () =>
    fail(`The fold calls ${what}: what is not an event must not be in rows.`);
}

function frozen(event: SessionEvent): SessionEvent {
  const copy = structuredClone(event);
  freeze(copy);
  return copy;
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}

/** What Postgres would refuse, and what it would change. */
function requireStorable(projection: Projection, log: TestLog): void {
  const { rows } = foldLog(projection, log);
  for (const table of projection.tables) {
    const { name } = getTableConfig(table);
    for (const [column, { notNull }] of Object.entries(getTableColumns(table)))
      for (const row of rows[name] ?? []) {
        const problem = problemOf(row[column], notNull);
        if (problem !== null)
          fail(`${name}.${column} ${problem} in ${JSON.stringify(row)}`);
      }
  }
}

function problemOf(value: unknown, notNull: boolean): string | null {
  if (value === null || value === undefined)
    return notNull ? "is null, and must not be" : null;
  if (typeof value === "number" && !Number.isFinite(value))
    return "is no finite number";
  if (typeof value !== "string") return null;
  if (value.includes("\0")) return "holds a NUL, which Postgres refuses";
  return value.isWellFormed()
    ? null
    : "holds a lone surrogate, which Postgres refuses";
}
