/** Commands that show what is stored: sessions, events, messages, usage. */
import { SessionId } from "../events/ids.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import { messageText, speakerOf } from "./message-text.ts";
import { readFlow } from "../query/status.ts";
import { openContext, type CommonOptions, type Context } from "./context.ts";
import {
  formatCount,
  formatTime,
  printJson,
  printTable,
  shorten,
} from "./output.ts";

export async function sessionsCommand(
  options: CommonOptions & { readonly limit: number },
): Promise<number> {
  await using context = await openContext(options);
  const rows = await context.store.sessions({ limit: options.limit });
  await noteLag(context);
  if (options.json === true) printJson(rows);
  else if (rows.length === 0)
    console.log(
      "No sessions in the read tables. Import some with: turnlog import <files…>",
    );
  else
    printTable(
      rows.map((row) => ({
        session: row.sessionId,
        title: shorten(row.title ?? "", 48),
        status: row.status,
        turns: row.turnCount,
        events: row.head,
        last_prompt:
          row.lastPromptMs === null ? null : formatTime(row.lastPromptMs),
      })),
    );
  return 0;
}

/** Says on stderr when the read tables don't have all of the log, so that a missing row is not taken for the truth. */
async function noteLag({ db }: Context): Promise<void> {
  const { projections, relay } = await readFlow(db);
  const behind = Math.max(
    0,
    ...projections.map((projection) => projection.eventsBehind),
  );
  if (behind === 0) return;
  const remedy = relay.isAlive
    ? "see: turnlog status"
    : "no relay is running; run: turnlog start";
  console.error(
    `${formatCount(behind)} events are not in the read tables yet; ${remedy}`,
  );
}

export interface EventsOptions extends CommonOptions {
  readonly from: number;
  readonly limit?: number;
}

/** With --json one event a line, exactly as the log has it. */
export async function eventsCommand(
  sessionId: string,
  options: EventsOptions,
): Promise<number> {
  await using context = await openContext(options);
  const range = {
    fromSeq: options.from,
    ...(options.limit === undefined
      ? {}
      : { toSeq: options.from + options.limit }),
  };
  for await (const event of context.store.read(SessionId(sessionId), range)) {
    if (process.stdout.errored !== null) break;
    if (options.json === true) console.log(stringifyJson(event));
    else
      console.log(
        `${String(event.seq).padStart(7)}  ${formatTime(event.time)}  ${event.type.padEnd(20)}  ${shorten(stringifyJson(event.data), 100)}`,
      );
  }
  return 0;
}

export interface MessagesOptions extends CommonOptions {
  readonly transcript?: boolean;
  readonly limit: number;
}

export async function messagesCommand(
  sessionId: string,
  options: MessagesOptions,
): Promise<number> {
  await using context = await openContext(options);
  await context.store.session(sessionId);
  const show = options.transcript === true ? "transcript" : "surface";
  const page = await context.store.messages(sessionId, {
    show,
    limit: options.limit,
  });
  await noteLag(context);
  if (options.json === true) printJson(page);
  else {
    for (const row of page.rows) {
      const cut = row.interrupted ? " (interrupted)" : "";
      console.log(`\n#${row.seq} ${speakerOf(row)}${cut}\n${messageText(row)}`);
    }
    console.log(`\n${page.rows.length} messages, as of seq ${page.asOfSeq}.`);
  }
  return 0;
}

export async function usageCommand(
  sessionId: string | undefined,
  options: CommonOptions,
): Promise<number> {
  await using context = await openContext(options);
  if (sessionId !== undefined) await context.store.session(sessionId);
  const stats = await context.store.tokenStats(sessionId);
  await noteLag(context);
  if (options.json === true)
    printJson(
      sessionId === undefined
        ? stats
        : { stats, ...(await context.store.usage(sessionId)) },
    );
  else if (stats.length === 0) console.log("No usage to show.");
  else printTable(stats.map(tokenStatsRow));
  return 0;
}

type TokenStats = Awaited<
  ReturnType<Awaited<ReturnType<typeof openContext>>["store"]["tokenStats"]>
>[number];

/** The columns that fit a terminal. */
export function tokenStatsRow(row: TokenStats) {
  return {
    session: row.sessionId,
    model: `${row.provider ?? "?"}/${row.model ?? "?"}`,
    requests: row.requestCount,
    failed: row.failedCount,
    input: row.inputTokens,
    output: row.outputTokens,
    cache_read: row.cacheReadTokens,
    cache_write: row.cacheWriteTokens,
    total: row.totalTokens,
    inherited: row.inheritedTotalTokens,
    cache_hits:
      row.cacheHitRatio === null
        ? null
        : `${Math.round(row.cacheHitRatio * 100)} %`,
  };
}
