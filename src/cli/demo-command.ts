/** `turnlog demo`: a short tour. Imports the example sessions and shows what becomes of them. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../db/package-root.ts";
import { silentLogger } from "../logger.ts";
import { readLogBytes, readLogSizes } from "../query/log-sizes.ts";
import { readStatus } from "../query/status.ts";
import { openContext, type CommonOptions, type Context } from "./context.ts";
import { importFiles } from "./import-files.ts";
import { formatCount, printTable, shorten } from "./output.ts";
import { startPipeline, untilCaughtUp } from "../runtime/pipeline.ts";
import { tokenStatsRow } from "./read-commands.ts";
import { printStatus } from "./status-command.ts";

/** Messages of the excerpt. */
const EXCERPT = 6;

export async function demoCommand(options: CommonOptions): Promise<number> {
  await using context = await openContext(options);
  const { db, config, store } = context;
  const folder = join(packageRoot(), "examples", "sessions");
  const files = (await readdir(folder))
    .filter((name) => name.endsWith(".jsonl"))
    .toSorted();
  const reports = await importFiles(
    store,
    files.map((name) => join(folder, name)),
  );
  const ids = reports.flatMap((report) =>
    report.sessionId === null ? [] : [report.sessionId],
  );
  {
    await using _pipeline = startPipeline({
      db,
      config,
      logger: silentLogger,
    });
    await untilCaughtUp(db);
  }
  heading("Sessions imported");
  await showSessions(
    context,
    files,
    ids,
    reports.map(({ outcome }) => outcome),
  );
  heading("From one of them");
  await showExcerpt(context, ids[0] ?? "");
  heading("Tokens by session and model");
  printTable(
    (await store.tokenStats())
      .filter((row) => ids.includes(row.sessionId))
      .map(shortSession),
  );
  heading("Titles");
  const titled = (await store.sessions()).filter((row) =>
    ids.includes(row.sessionId),
  );
  printTable(
    titled.map((row) => ({
      session: row.sessionId.slice(0, 8),
      title: row.title,
      source: row.titleSource,
      status: row.status,
    })),
  );
  heading("Status");
  printStatus(await readStatus(db));
  return reports.some(({ outcome }) => outcome === "refused") ? 1 : 0;
}

async function showSessions(
  { db }: Context,
  files: readonly string[],
  ids: readonly string[],
  outcomes: readonly string[],
): Promise<void> {
  const sizes = await readLogSizes(db, ids);
  printTable(
    ids.flatMap((id, at) => {
      const size = sizes.find(({ sessionId }) => sessionId === id);
      if (size === undefined) return [];
      return [
        {
          file: files[at] ?? "",
          session: id.slice(0, 8),
          outcome: outcomes[at] ?? "",
          events: size.events,
          rows: size.rows,
          "bytes/event": Math.round(size.payloadBytes / size.events),
        },
      ];
    }),
  );
  const events = sizes.reduce((sum, size) => sum + size.events, 0);
  console.log(
    `${formatCount(events)} events; the log takes ${formatCount(await readLogBytes(db))} bytes with its indexes.`,
  );
}

async function showExcerpt(
  { store }: Context,
  sessionId: string,
): Promise<void> {
  const { rows, asOfSeq } = await store.messages(sessionId, {
    show: "transcript",
    limit: EXCERPT,
  });
  for (const row of rows) {
    const speaker = row.role === "user" ? row.sourceKind : row.role;
    console.log(
      `${speaker.padStart(9)}  ${shorten(row.text === "" ? row.content : row.text, 100)}`,
    );
  }
  console.log(`(the first ${rows.length} messages, as of seq ${asOfSeq})`);
}

function shortSession(row: Parameters<typeof tokenStatsRow>[0]) {
  return { ...tokenStatsRow(row), session: row.sessionId.slice(0, 8) };
}

function heading(text: string): void {
  console.log(`\n${text}\n${"─".repeat(text.length)}`);
}
