/** Ways to bring the rows of one append to the server: what encoding, sending and inserting 100 rows takes. */
import pg from "pg";
import type { SessionEvent } from "../../../src/events/event.ts";
import { middleCosts, costsPerEvent, readCounters } from "../costs.ts";
import type { WorkCosts } from "../costs.ts";
import { thinnedLog } from "../payloads.ts";
import type { Figure } from "../result.ts";
import { compared, measureInTurns } from "../rounds.ts";
import type { Scenario } from "../scenario.ts";
import { batchesOf } from "../../generator/batches.ts";

const TABLE = `
  create table rows (
    session_id text collate "C" not null, seq bigint not null, time_ms bigint not null, type text not null,
    payload text not null,
    primary key (session_id, seq))`;

interface Way {
  readonly name: string;
  readonly text: string;
  readonly values: (rows: readonly SessionEvent[]) => unknown[];
}

const INTO = "insert into rows (session_id, seq, time_ms, type, payload)";

/** Of a function's body, where a select list may hold several sets. */
const WAYS: readonly Way[] = [
  {
    name: "lines of text",
    text: `${INTO}
      select $1, unnest(string_to_array($2, E'\\n')::bigint[]), unnest(string_to_array($3, E'\\n')::bigint[]),
             unnest(string_to_array($4, E'\\n')), unnest(string_to_array($5, E'\\n'))`,
    values: (rows) => columnsOf(rows).map((column) => column.join("\n")),
  },
  {
    name: "arrays",
    text: `${INTO}
      select $1, unnest($2::bigint[]), unnest($3::bigint[]), unnest($4::text[]), unnest($5::text[])`,
    values: (rows) => [...columnsOf(rows)],
  },
  {
    name: "one json",
    text: `${INTO}
      select $1, r.seq, r.time_ms, r.type, r.payload
      from json_to_recordset($2) as r (seq bigint, time_ms bigint, type text, payload text)`,
    values: (rows) => [
      JSON.stringify(
        rows.map(({ seq, time, type, data }) => ({
          seq,
          time_ms: time,
          type,
          payload: JSON.stringify(data),
        })),
      ),
    ],
  },
  {
    name: "a parameter for each value",
    text: `${INTO} values ${Array.from({ length: 100 }, (_, at) => `($1, $${4 * at + 2}, $${4 * at + 3}, $${4 * at + 4}, $${4 * at + 5})`).join()}`,
    values: (rows) =>
      rows.flatMap(({ seq, time, type, data }) => [
        seq,
        time,
        type,
        JSON.stringify(data),
      ]),
  },
];

export const transport: Scenario = {
  name: "transport",
  title: "Ways to send 100 rows, inserted in one statement and rolled back",
  long: true,
  async run(bench): Promise<readonly Figure[]> {
    const client = new pg.Client(await bench.server.createDatabase());
    await client.connect();
    await client.query(TABLE);
    const batches = [...batchesOf(thinnedLog(1, 10_000), 100)];
    const costs = new Map<string, WorkCosts[]>();
    const subjects = WAYS.map((way) => ({
      name: way.name,
      async measure() {
        const before = await readCounters(bench.server);
        await client.query("begin");
        const beganAt = performance.now();
        let rows = 0;
        for (; performance.now() < beganAt + bench.windowMs / 4; rows += 100) {
          const batch = batches[(rows / 100) % batches.length] ?? [];
          const values = [crypto.randomUUID(), ...way.values(batch)];
          await client.query({ name: way.name, text: way.text, values });
        }
        const seconds = (performance.now() - beganAt) / 1_000;
        await client.query("rollback");
        const after = await readCounters(bench.server);
        const known = costs.get(way.name) ?? [];
        costs.set(way.name, [...known, costsPerEvent(before, after, rows)]);
        return rows / seconds;
      },
    }));
    try {
      const values = await measureInTurns(subjects, {
        rounds: bench.rounds,
        slices: 4,
      });
      const middle = [...costs].map(
        ([name, all]) => [name, middleCosts(all)] as const,
      );
      return compared(values, new Map(middle), {
        unit: "rows/s",
        better: "higher",
        baseline: "lines of text",
        targets: {},
      });
    } finally {
      await client.end();
    }
  },
};

function columnsOf(
  rows: readonly SessionEvent[],
): readonly (readonly unknown[])[] {
  return [
    rows.map(({ seq }) => seq),
    rows.map(({ time }) => time),
    rows.map(({ type }) => type),
    rows.map(({ data }) => JSON.stringify(data)),
  ];
}
