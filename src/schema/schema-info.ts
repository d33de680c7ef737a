/** One row: which schema version the database has, and which store (and copy of it) this is. */
import { sql } from "drizzle-orm";
import { boolean, check, integer, uuid } from "drizzle-orm/pg-core";
import { turnlog } from "./turnlog-schema.ts";

export const schemaInfo = turnlog.table(
  "schema",
  {
    /** Always true: there is one row. */
    only: boolean("only").primaryKey().default(true),
    /** Version of tables and functions; raised by each release that changes them. */
    version: integer("version").notNull(),
    /** Clients below this schema version must upgrade before they connect. */
    minClientVersion: integer("min_client_version").notNull(),
    /** Identity of the store; a cursor of another store is refused. */
    storeId: uuid("store_id").notNull().defaultRandom(),
    /** Raised by the operator after a restore or a fail-over to an older copy. */
    generation: integer("generation").notNull().default(1),
  },
  (table) => [check("schema_only_check", sql`${table.only}`)],
);
