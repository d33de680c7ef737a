/** `turnlog demo`: a short tour. Imports the example sessions and shows what becomes of them. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../db/package-root.ts";
import type { ImportReport } from "../io/import-file.ts";
import { silentLogger } from "../logger.ts";
import { readLogBytes, readLogSizes } from "../query/log-sizes.ts";
import { readStatus } from "../query/status.ts";
import { startPipeline, untilCaughtUp } from "../runtime/pipeline.ts";
import { openContext, type CommonOptions, type Context } from "./context.ts";
import { importFiles } from "./import-files.ts";
import { messageText, speakerOf } from "./message-text.ts";
import { formatCount, printJson, printTable, shorten } from "./output.ts";
import { tokenStatsRow } from "./read-commands.ts";
import { printStatus } from "./status-command.ts";

/** Messages of the excerpt. */
const EXCERPT = 8;

/** Exit code 1 when an example was refused or its read tables did not follow. */
export async function demoCommand(options: CommonOptions): Promise<number> {
  await using context = await openContext(options);
  const { db, config, store } = context;
  const reports = await importFiles(
    store,
    (await exampleFiles()).map((file) => ({ file })),
  );
  await using _pipeline = await startPipeline({
    db,
    config,
    logger: silentLogger,
    projections: context.projections,
  });
  const isCaughtUp = await untilCaughtUp(db);
  const tour = await collect(context, reports);
  if (options.json === true) printJson(tour);
  else print(tour);
  return isCaughtUp && reports.every(({ outcome }) => outcome !== "refused")
    ? 0
    : 1;
}

async function exampleFiles(): Promise<string[]> {
  const folder = join(packageRoot(), "examples", "sessions");
  const names = (await readdir(folder)).filter((name) =>
    name.endsWith(".jsonl"),
  );
  return names.toSorted().map((name) => join(folder, name));
}

type Tour = Awaited<ReturnType<typeof collect>>;

async function collect(
  { db, store }: Context,
  reports: readonly ImportReport[],
) {
  const ids = reports.flatMap(({ sessionId }) =>
    sessionId === null ? [] : [sessionId],
  );
  const isOurs = ({ sessionId }: { readonly sessionId: string }): boolean =>
    ids.includes(sessionId);
  return {
    reports,
    sizes: await readLogSizes(db, ids),
    logBytes: await readLogBytes(db),
    excerpt: await store.messages(ids[0] ?? "-", {
      show: "transcript",
      limit: EXCERPT,
    }),
    tokenStats: (await store.tokenStats()).filter(isOurs),
    sessions: (await store.sessions()).filter(isOurs),
    status: await readStatus(db),
  };
}

function print(tour: Tour): void {
  heading("Sessions imported");
  printTable(tour.reports.map((report) => sizeRow(report, tour)));
  const events = tour.sizes.reduce((sum, size) => sum + size.events, 0);
  const rows = tour.sizes.reduce((sum, size) => sum + size.rows, 0);
  console.log(
    `${formatCount(events)} events in ${formatCount(rows)} rows; the log takes ${formatCount(tour.logBytes)} bytes with its indexes.`,
  );
  heading("The beginning of the first");
  for (const row of tour.excerpt.rows)
    console.log(
      `${speakerOf(row).padStart(9)}  ${shorten(messageText(row), 100)}`,
    );
  heading("Tokens by session and model");
  printTable(
    tour.tokenStats.map((row) => ({
      ...tokenStatsRow(row),
      session: shortId(row.sessionId),
    })),
  );
  heading("Titles");
  printTable(
    tour.sessions.map((row) => ({
      session: shortId(row.sessionId),
      title: row.title,
      source: row.titleSource,
      status: row.status,
    })),
  );
  heading("Status");
  printStatus(tour.status);
}

function sizeRow(report: ImportReport, tour: Tour) {
  const size = tour.sizes.find(
    ({ sessionId }) => sessionId === report.sessionId,
  );
  return {
    file: report.file.split(/[/\\]/).at(-1) ?? "",
    session: shortId(report.sessionId ?? ""),
    outcome: report.outcome,
    events: size?.events ?? null,
    rows: size?.rows ?? null,
    "bytes/event":
      size === undefined ? null : Math.round(size.payloadBytes / size.events),
  };
}

function shortId(sessionId: string): string {
  return sessionId.slice(0, 8);
}

function heading(text: string): void {
  console.log(`\n${text}\n${"─".repeat(text.length)}`);
}
