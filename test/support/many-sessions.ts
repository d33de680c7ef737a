/** A store with thousands of sessions, made by copying rows of one: for plans, where only their number matters. */
import type { Db } from "../../src/db/connect.ts";

/** Copies a row of the session in the log, the control tables and each table of the builds, under new session ids. */
export async function copySession(
  db: Db,
  sessionId: string,
  times: number,
): Promise<void> {
  const tables = await db.rows<{ name: string; columns: string }>({
    text: `
      select format('%I.%I', n.nspname, c.relname) as name,
             string_agg(case a.attname when 'session_id' then '''session '' || n' else quote_ident(a.attname) end, ', '
                        order by a.attnum) as columns
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relkind = 'r'
        and (n.nspname like 'turnlog\\_b%' or n.nspname = 'turnlog' and c.relname in ('sessions', 'events', 'checkpoints'))
      group by n.nspname, c.relname`,
  });
  for (const { name, columns } of tables)
    await db.rows(
      {
        text: `
          insert into ${name}
          select ${columns}
          from (select * from ${name} where session_id = $1 limit 1) r, generate_series(1, $2::integer) n`,
      },
      [sessionId, times],
    );
  await db.rows({ text: "analyze" });
}
