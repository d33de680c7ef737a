/** A projection: a name, a version, tables, and a pure fold from events to rows. */
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { ProjectionInvalidError } from "../errors.ts";
import { isDelta, type SessionEvent } from "../events/event.ts";
import type { SessionHeader } from "../events/header.ts";
import type { JsonObject, JsonValue } from "../events/json.ts";
import type { EventData, KnownType } from "../events/schemas/event-schemas.ts";
import { checkDefinition } from "./check-definition.ts";
import { keyColumnsOf, type RowChange } from "./row-buffer.ts";

/** An event on its way through a fold. */
export interface ProjectedEvent extends SessionEvent {
  readonly sessionId: string;
}

/**
 * An event of one of these types; `switch` over `type` narrows `data`. The data of types that this version knows has the
 * fields of docs/event-types.md, beside others that it may have. Types that nobody knows have any JSON.
 */
export type EventOf<H extends string> = {
  [K in H]: ProjectedEvent & {
    readonly type: K;
    readonly data: K extends KnownType ? EventData<K> & JsonObject : JsonValue;
  };
}[H];

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

export interface ProjectionDefinition<
  State,
  T extends Tables,
  H extends string = string,
> {
  /** Lower case letters, digits and `_`. */
  readonly name: string;
  /** From 1. Raised with every change of fold or tables: another version is another build. */
  readonly version: number;
  /** Each with a `primaryKey({ … })` that begins with `session_id text collate "C"` (`idText`). */
  readonly tables: T;
  /** Event types that `apply` wants, or `all`. */
  readonly handles: readonly H[] | "all";
  /**
   * Whether streamed deltas are wanted in this state; default never. Where it is false, `apply` would have returned
   * the same state for a delta, so that runs of them need not be read.
   */
  readonly deltas?: (state: State) => boolean;
  /** State before the first event. States must survive JSON: no `undefined`, Map, Date or bigint in them. */
  readonly init: (header: SessionHeader) => State;
  /**
   * Next state, or the same one when nothing changed. Pure: no clock, no randomness, no I/O, and events are left as they
   * are. Rows must be of the event's own session. What it throws stops this projection in this session alone.
   */
  readonly apply: (state: State, event: EventOf<H>, rows: Rows<T>) => State;
  /** @defaultValue for each table a view of its name with all its columns */
  readonly views?: readonly ReadView[];
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
 * Makes a projection: the definition is checked, its types of events and rows are told to `apply`.
 * @throws ProjectionInvalidError naming the table and what is wrong with it
 * @example
 * export const turnEnds = defineProjection({
 *   name: "turn_ends", version: 1, tables: { turnEnds: turnEndsTable }, handles: ["turn/end"],
 *   init: () => null,
 *   apply(state, event, rows) {
 *     const { sessionId, seq, data } = event;
 *     rows.turnEnds.upsert({ sessionId, turn: data.turn, seq, reason: data.reason.kind });
 *     return state;
 *   },
 * })
 */
export function defineProjection<
  State,
  const T extends Tables,
  H extends string = string,
>(definition: ProjectionDefinition<State, T, H>): Projection {
  const { handles, deltas } = definition;
  const tables = Object.values(definition.tables);
  checkDefinition({ ...definition, tables });
  const handled: ReadonlySet<string> | null =
    handles === "all" ? null : new Set(handles);
  const isHandled = (event: ProjectedEvent): event is EventOf<H> =>
    handled?.has(event.type) ?? true;
  return {
    name: definition.name,
    version: definition.version,
    tables,
    handles: handled,
    mayWantDeltas: deltas !== undefined,
    views: definition.views ?? tables.map(viewOfTable),
    fold(header, stateText, sink) {
      let state: State =
        stateText === "" ? definition.init(header) : JSON.parse(stateText);
      let changes: RowChange[] = [];
      const rows = rowsOf(definition.tables, (change) => {
        checkKey(definition.name, header.id, change);
        changes.push(change);
      });
      const wantsDeltas = (): boolean => deltas?.(state) ?? false;
      return {
        wantsDeltas,
        apply(event) {
          if (!isHandled(event)) return;
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

/** Rows are found, cleared and spread over servers by their session: a fold changes those of its own alone. */
function checkKey(
  projection: string,
  sessionId: string,
  { table, values }: RowChange,
): void {
  const { name } = getTableConfig(table);
  const [session = "", ...others] = keyColumnsOf(table);
  if (values[session] !== sessionId)
    throw new ProjectionInvalidError({
      projection,
      table: name,
      reason: `rows must have the event's own session as ${session}`,
    });
  const missing = others.find((key) => (values[key] ?? null) === null);
  if (missing !== undefined)
    throw new ProjectionInvalidError({
      projection,
      table: name,
      reason: `rows must have ${missing}, which is in the primary key`,
    });
}

function viewOfTable(table: PgTable): ReadView {
  const { name, columns } = getTableConfig(table);
  const list = columns.map((column) => `"${column.name}"`).join(", ");
  return { name, select: (tableOf) => `select ${list} from ${tableOf(name)}` };
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
