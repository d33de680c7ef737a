/** A connection that counts its statements by name. Each outside of a transaction is a round trip and a commit. */
import type { Db } from "../../src/db/connect.ts";

export interface CountingDb extends Db {
  /** Names of the statements so far, in order; a transaction counts as `transaction`. */
  readonly statements: string[];
}

/** Counts what is asked of `db`, and does it. */
export function countingDb(db: Db): CountingDb {
  const statements: string[] = [];
  return {
    ...db,
    statements,
    rows(statement, values) {
      statements.push(statement.name ?? statement.text);
      return db.rows(statement, values);
    },
    transaction(work) {
      statements.push("transaction");
      return db.transaction(work);
    },
  };
}
