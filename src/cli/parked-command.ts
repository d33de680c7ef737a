/** `turnlog parked`: sessions that a projection could not fold, and what can be done about them. */
import { ConfigInvalidError } from "../errors.ts";
import { SessionId } from "../events/ids.ts";
import {
  listParked,
  readParked,
  retryParked,
  skipParked,
  type ParkedPair,
} from "../projector/parked.ts";
import { openContext, type CommonOptions, type Context } from "./context.ts";
import { formatCount, printJson, printTable } from "./output.ts";

export interface ListOptions extends CommonOptions {
  readonly projection?: string;
  readonly limit: number;
}

export async function parkedListCommand(options: ListOptions): Promise<number> {
  await using context = await openContext(options);
  const pairs = await listParked(context.db, {
    projection: options.projection ?? null,
    sessionId: null,
    limit: options.limit,
  });
  if (options.json === true) printJson(pairs);
  else if (pairs.length === 0) console.log("Nothing is parked.");
  else
    printTable(
      pairs.map((pair) => ({
        projection: pair.projection,
        session: pair.sessionId,
        seq: pair.seq,
        event: pair.eventType,
        error: pair.errorCode,
        attempts: pair.attempts,
        version: pair.version,
        state: stateOf(pair),
      })),
    );
  return 0;
}

export async function parkedShowCommand(
  projection: string,
  session: string,
  options: CommonOptions,
): Promise<number> {
  await using context = await openContext(options);
  const pairs = await readParked(context.db, projection, SessionId(session));
  if (options.json === true) printJson(pairs);
  else for (const pair of pairs) printPair(pair);
  return 0;
}

export interface RetryOptions extends CommonOptions {
  readonly all?: boolean;
}

export async function parkedRetryCommand(
  projection: string,
  session: string | undefined,
  options: RetryOptions,
): Promise<number> {
  if ((session === undefined) === (options.all !== true))
    throw new ConfigInvalidError("Name a session, or give --all.");
  await using context = await openContext(options);
  const pairs =
    session === undefined
      ? allOf(context, projection)
      : await readParked(context.db, projection, SessionId(session));
  let retried = 0;
  for await (const pair of pairs)
    if (await retryParked(context.db, pair)) retried += 1;
  if (options.json === true) printJson({ retried });
  else
    console.log(
      `${formatCount(retried)} to be tried again. Whether they got further: turnlog parked list`,
    );
  return 0;
}

export interface SkipOptions extends CommonOptions {
  readonly yes?: boolean;
}

/** Without --yes it says what it would do, and does nothing. */
export async function parkedSkipCommand(
  projection: string,
  session: string,
  options: SkipOptions,
): Promise<number> {
  await using context = await openContext(options);
  const pairs = await readParked(context.db, projection, SessionId(session));
  const isMeant = options.yes === true;
  const done: ParkedPair[] = [];
  for (const pair of pairs) {
    if (pair.seq === null) continue;
    if (!isMeant || (await skipParked(context.db, pair))) done.push(pair);
  }
  const events = done.map(({ build, seq }) => ({ build, seq }));
  if (options.json === true) printJson({ skipped: isMeant, events });
  else for (const pair of done) console.log(skipLine(pair, isMeant));
  if (isMeant) return done.length === pairs.length ? 0 : 1;
  console.error("Nothing was changed. Do it with --yes.");
  return 2;
}

/** In pages, so that any number can be tried again. */
async function* allOf(
  { db }: Context,
  projection: string,
): AsyncGenerator<ParkedPair> {
  const filter = { projection, sessionId: null, limit: 500 };
  let page = await listParked(db, filter);
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield* page;
    page = await listParked(db, { ...filter, after: last });
  }
}

function stateOf({ parkedAt, nextAt }: ParkedPair): string {
  if (parkedAt !== null) return `parked ${parkedAt.slice(0, 19)}Z`;
  return `next try ${(nextAt ?? "").slice(0, 19)}Z`;
}

function printPair(pair: ParkedPair): void {
  const seq = pair.seq === null ? "unknown" : String(pair.seq);
  const lines = [
    ["projection", `${pair.projection}, version ${pair.version}`],
    ["build", String(pair.build)],
    ["session", pair.sessionId],
    ["seq", `${seq}${pair.eventType === null ? "" : ` (${pair.eventType})`}`],
    ["error", pair.errorCode ?? "unknown"],
    ["attempts", String(pair.attempts)],
    ["failing since", pair.failedAt ?? "unknown"],
    ["state", stateOf(pair)],
    ["behind", `${formatCount(pair.eventsBehind)} events`],
    ["skipped", pair.skipped.length === 0 ? "none" : pair.skipped.join(", ")],
  ];
  for (const [name = "", value] of lines)
    console.log(`${name.padEnd(14)} ${value}`);
  console.log(
    `The event: turnlog events ${pair.sessionId} --from ${seq} --limit 1`,
  );
}

function skipLine(pair: ParkedPair, isMeant: boolean): string {
  const what = `event ${pair.seq} (${pair.eventType}) of session ${pair.sessionId}`;
  return isMeant
    ? `Build ${pair.build} of ${pair.projection} passes over ${what}.`
    : `Build ${pair.build} of ${pair.projection} would pass over ${what} for good; its rows would be the fold of the log without it.`;
}
