/** What the tables of a database take up: heap, TOAST and indexes. */
import pg from "pg";

/** All tables that are not the server's own. */
export async function storedBytes(databaseUrl: string): Promise<number> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows } = await client.query<{ bytes: string }>(`
    select sum(pg_total_relation_size(oid)) as bytes
    from pg_class
    where relkind = 'r'
      and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`);
  await client.end();
  return Number(rows[0]?.bytes);
}
