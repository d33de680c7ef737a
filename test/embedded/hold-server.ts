/**
 * A process that uses the embedded server of the directory in its first argument: it says
 * so in one line of JSON and lets go when its input ends or Ctrl-C comes. It then asks
 * the server for one more answer, as a draining application does.
 */
import { once } from "node:events";
import { startEmbeddedPostgres } from "../../src/embedded/embedded-postgres.ts";
import { queryOne } from "./query.ts";

const postgres = await startEmbeddedPostgres({
  directory: process.argv[2] ?? "",
  settings: { fsync: "off" },
});
const { databaseUrl, dataDirectory, adopted } = postgres;
const toldToEnd = Promise.race([
  once(process.stdin.resume(), "end"),
  once(process, "SIGINT"),
]);
process.stdout.write(
  `${JSON.stringify({ databaseUrl, dataDirectory, adopted })}\n`,
);
await toldToEnd;
process.stdin.destroy();
process.stdout.write(`${await queryOne(databaseUrl, "select 'drained'")}\n`);
await postgres.close();
