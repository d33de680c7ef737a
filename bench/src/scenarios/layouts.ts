/** What the layout of the log's tables costs an append: the same store over tables that were changed after its migrations. */
import pg from "pg";
import type { ContenderKind } from "../contenders/contender.ts";
import { turnlogOf } from "../contenders/turnlog.ts";
import { thinnedLog } from "../payloads.ts";
import type { Scenario } from "../scenario.ts";
import { measureThroughput } from "../throughput.ts";

/** Casts, since the functions give text. */
const AS_BYTEA = `
  create function public.as_bytea(text) returns bytea language sql immutable as $$ select convert_to($1, 'UTF8') $$;
  create cast (text as bytea) with function public.as_bytea(text) as assignment;
  alter table turnlog.events alter column payload type bytea using convert_to(payload, 'UTF8')`;

/** Changes to the tables; the first is none. */
const LAYOUTS: Readonly<Record<string, string>> = {
  "as it is": "",
  "payload json":
    "create cast (text as json) with inout as assignment; alter table turnlog.events alter column payload type json using payload::json",
  "payload jsonb":
    "create cast (text as jsonb) with inout as assignment; alter table turnlog.events alter column payload type jsonb using payload::jsonb",
  "payload bytea": AS_BYTEA,
  "payload not compressed":
    "alter table turnlog.events alter column payload set storage external",
  "no index on append ids":
    "drop index turnlog.events_session_id_append_id_idx",
  "outbox without its key":
    "alter table turnlog.outbox drop constraint outbox_pkey",
  "outbox without its index on ids": "drop index turnlog.outbox_id_idx",
};

/** Append id 0 of nobody is looked for in every call, so a layout without its index only shows what the index costs. */
export const layouts: readonly Scenario[] = [
  { eventsPerAppend: 1, writers: 16 },
  { eventsPerAppend: 100, writers: 1 },
].map((shape) => ({
  name: `layout-${shape.eventsPerAppend}x${shape.writers}`,
  title: `Other layouts of the tables, ${shape.eventsPerAppend} events an append, ${shape.writers} writers`,
  long: true,
  run: (bench) =>
    measureThroughput(
      { ...bench, windowMs: bench.windowMs / 2 },
      Object.entries(LAYOUTS).map(([name, change]) => changed(name, change)),
      { ...shape, log: thinnedLog(1, 10_000) },
      {
        unit: "events/s",
        better: "higher",
        baseline: "as it is",
        targets: {},
      },
    ),
}));

function changed(name: string, change: string): ContenderKind {
  const kind = turnlogOf(name, { coalesce: false });
  return {
    ...kind,
    async install(databaseUrl) {
      await kind.install(databaseUrl);
      const client = new pg.Client(databaseUrl);
      await client.connect();
      if (change !== "") await client.query(change);
      await client.end();
    },
  };
}
