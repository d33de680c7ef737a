/** A projection: a name, a version, tables, and a pure fold from events to rows. */
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { ConfigInvalidError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";
import { isDelta } from "../events/event.ts";
import type { SessionHeader } from "../events/header.ts";
import type { RowChange } from "./row-buffer.ts";

/** An event on its way through a fold. */
export interface ProjectedEvent extends SessionEvent {
  readonly sessionId: string;
}

type Tables = Readonly<Record<string, PgTable>>;
type Row<T extends PgTable> = T["$inferInsert"];

/** Collects changes of one table. Rows are identified by their primary key; columns left out are null. */
interface TableRows<T extends PgTable> {
  /** Writes the whole row. */
  upsert(row: Row<T>): void;
  /** Changes some columns of a row, named by its primary key; does nothing when there is no such row. */
  update(row: Partial<Row<T>>): void;
  /** Removes the row with this primary key. */
  delete(key: Partial<Row<T>>): void;
}

export type Rows<T extends Tables> = {
  readonly [K in keyof T]: TableRows<T[K]>;
};

/** A read view over the tables of a build. `select` is the text of a query; `table(name)` names a table in it. */
export interface ReadView {
  readonly name: string;
  /** What a row is. Becomes the comment on the view. */
  readonly about?: string;
  /** What each column means, its unit, and what null says; by name, in the order of `select`. Become its comments. */
  readonly columns?: Readonly<Record<string, string>>;
  readonly select: (table: (name: string) => string) => string;
}

export interface ProjectionDefinition<State, T extends Tables> {
  readonly name: string;
  /** Raised with every change of fold or tables: another version is another build. */
  readonly version: number;
  readonly tables: T;
  /** Event types that `apply` wants, or `all`. */
  readonly handles: readonly string[] | "all";
  /**
   * Whether streamed deltas are wanted in this state; default never. Where it is false, `apply` would have returned
   * the same state for a delta, so that runs of them need not be read.
   */
  readonly deltas?: (state: State) => boolean;
  /** State before the first event. States must survive JSON. */
  readonly init: (header: SessionHeader) => State;
  /** Next state, or the same one when nothing changed. Pure: no clock, no randomness, no I/O. */
  readonly apply: (state: State, event: ProjectedEvent, rows: Rows<T>) => State;
  readonly views: readonly ReadView[];
}

/** A fold of one session in progress. */
export interface Fold {
  /** Applies an event that the projection handles, and ignores others. Throws what `apply` throws, changing nothing. */
  apply(event: ProjectedEvent): void;
  /** False when a run of deltas may be passed over. */
  wantsDeltas(): boolean;
  /** JSON text to go on from. */
  state(): string;
}

/** A projection as the engine sees it: the type of its state is its own affair. */
export interface Projection {
  readonly name: string;
  readonly version: number;
  readonly tables: readonly PgTable[];
  /** Event types it wants; null for all. */
  readonly handles: ReadonlySet<string> | null;
  /** True when it may want streamed deltas. */
  readonly mayWantDeltas: boolean;
  readonly views: readonly ReadView[];
  /** Starts from `state`, or from before the first event when it is empty. `sink` gets each event's changes. */
  fold(
    header: SessionHeader,
    state: string,
    sink: (change: RowChange) => void,
  ): Fold;
}

/**
 * Makes a projection.
 * @throws ConfigInvalidError when a table's primary key does not begin with `session_id`
 * @example defineProjection({ name: "turn_ends", version: 1, tables: { turnEnds }, handles: ["turn/end"], … })
 */
export function defineProjection<State, T extends Tables>(
  definition: ProjectionDefinition<State, T>,
): Projection {
  const { handles, deltas } = definition;
  for (const table of Object.values(definition.tables))
    requireSessionKey(table);
  const handled = handles === "all" ? null : new Set(handles);
  return {
    name: definition.name,
    version: definition.version,
    tables: Object.values(definition.tables),
    handles: handled,
    mayWantDeltas: deltas !== undefined,
    views: definition.views,
    fold(header, stateText, sink) {
      let state: State =
        stateText === "" ? definition.init(header) : JSON.parse(stateText);
      let changes: RowChange[] = [];
      const rows = rowsOf(definition.tables, (change) => changes.push(change));
      const wantsDeltas = (): boolean => deltas?.(state) ?? false;
      return {
        wantsDeltas,
        apply(event) {
          if (handled !== null && !handled.has(event.type)) return;
          if (isDelta(event) && !wantsDeltas()) return;
          changes = [];
          state = definition.apply(state, event, rows);
          changes.forEach(sink);
        },
        state: () => JSON.stringify(state),
      };
    },
  };
}

/** Rows are found, cleared and spread over servers by their session. */
function requireSessionKey(table: PgTable): void {
  const { name, primaryKeys } = getTableConfig(table);
  if (primaryKeys[0]?.columns[0]?.name !== "session_id")
    throw new ConfigInvalidError(
      `The table ${name} must have a primaryKey({ … }) whose first column is session_id.`,
    );
}

function rowsOf<T extends Tables>(
  tables: T,
  push: (change: RowChange) => void,
): Rows<T> {
  const writers = Object.entries(tables).map(
    ([name, table]) => [name, tableRows(table, push)] as const,
  );
  return Object.assign(Object.create(null), Object.fromEntries(writers));
}

function tableRows(
  table: PgTable,
  push: (change: RowChange) => void,
): TableRows<PgTable> {
  return {
    upsert: (row) => push({ table, kind: "upsert", values: { ...row } }),
    update: (row) => push({ table, kind: "update", values: { ...row } }),
    delete: (key) => push({ table, kind: "delete", values: { ...key } }),
  };
}
