/** How fast the machine is just now: commits of one small row, and fsyncs without a database. */
import {
  mkdtempSync,
  openSync,
  closeSync,
  writeSync,
  fdatasyncSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import pg from "pg";

/** Writes of 8 kB, each made durable, a second: what pg_test_fsync measures. */
export function fsyncsPerSecond(parent: string, forMs: number): number {
  const folder = mkdtempSync(join(parent, "turnlog-fsync-"));
  const file = openSync(join(folder, "file"), "w");
  const block = Buffer.alloc(8_192);
  const beganAt = performance.now();
  let count = 0;
  try {
    for (; performance.now() - beganAt < forMs; count += 1) {
      writeSync(file, block, 0, block.length, 0);
      fdatasyncSync(file);
    }
    return count / ((performance.now() - beganAt) / 1_000);
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}

/** A connection that inserts one small row a commit. */
export interface Control {
  /** Commits a second. */
  readonly measure: (forMs: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

export async function openControl(databaseUrl: string): Promise<Control> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(
    "create table control (id bigint generated always as identity, note text)",
  );
  const insert = {
    name: "control",
    text: "insert into control (note) values ($1)",
  };
  return {
    async measure(forMs) {
      const beganAt = performance.now();
      let count = 0;
      for (; performance.now() - beganAt < forMs; count += 1)
        await client.query({ ...insert, values: ["x".repeat(100)] });
      return count / ((performance.now() - beganAt) / 1_000);
    },
    close: () => client.end(),
  };
}
