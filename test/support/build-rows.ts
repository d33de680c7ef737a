/** What the tables of live builds hold for a session. */
import { getTableColumns } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/pg-core";
import type { Db } from "../../src/db/connect.ts";
import type { Projection } from "../../src/projector/projection.ts";
import type { RowValues } from "../../src/projector/row-buffer.ts";
import { sorted, type TableRows } from "./pure-fold.ts";

export async function liveRows(
  db: Db,
  projection: Projection,
  sessionId: string,
): Promise<TableRows> {
  const [build] = await db.rows<{ number: number }>(
    {
      text: "select number from turnlog.builds where projection = $1 and status = 'live'",
    },
    [projection.name],
  );
  const tables: [string, readonly RowValues[]][] = [];
  for (const table of projection.tables) {
    const { name } = getTableConfig(table);
    const columns = Object.values(getTableColumns(table)).map(
      (column) => column.name,
    );
    const text = `select ${columns.join(", ")} from turnlog_b${build?.number}.${name} where session_id = $1`;
    tables.push([
      name,
      sorted(await db.rows<RowValues>({ text }, [sessionId]), table),
    ]);
  }
  return Object.fromEntries(tables);
}
