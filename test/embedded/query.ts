/** One statement on a connection of its own. */
import { Client } from "pg";

/** The first column of the first row, as text; empty when there is none. */
export async function queryOne(url: string, sql: string): Promise<string> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {
    // The statement itself rejects; a server that dies later is what some tests do.
  });
  await client.connect();
  try {
    const { rows } = await client.query<[string | number | boolean | null]>({
      text: sql,
      rowMode: "array",
    });
    return String(rows[0]?.[0] ?? "");
  } finally {
    await client.end();
  }
}
