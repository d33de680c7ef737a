/** Logs to try a projection on: events as a test writes them, or the example sessions of the package. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../db/package-root.ts";
import { checkEvent, type UncheckedEvent } from "../events/envelope.ts";
import type { NewEvent, SessionEvent } from "../events/event.ts";
import { membersOf } from "../events/expand-runs.ts";
import {
  FORMAT_VERSION,
  type NewSessionHeader,
  type SessionHeader,
} from "../events/header.ts";
import { checkData } from "../events/schemas/check-data.ts";
import { openLogRecords } from "../io/log-records.ts";

/** A session to fold: its events in order, and what its header should say. */
export interface TestSession {
  readonly header?: NewSessionHeader;
  readonly events: readonly NewEvent[];
}

export interface TestLog {
  readonly header: SessionHeader;
  readonly events: readonly SessionEvent[];
}

/** Id of the sessions that tests make. */
const TEST_SESSION = "test-session";
/** Time of events that have none: each a second after the one before. */
const SECOND_MS = 1_000;

/**
 * Numbers the events from 0 and checks each by itself as an append does.
 * @throws RuleViolation
 */
export function testLog({ header, events }: TestSession): TestLog {
  return {
    header: {
      version: FORMAT_VERSION,
      id: TEST_SESSION,
      createdAt: 0,
      delegationDepth: 0,
      ...header,
    },
    events: events.map((event, seq) => eventAt(event, seq)),
  };
}

/** The ten sessions that come with the package. */
export async function exampleLogs(): Promise<readonly TestLog[]> {
  const folder = join(packageRoot(), "examples", "sessions");
  const files = (await readdir(folder)).filter((name) =>
    name.endsWith(".jsonl"),
  );
  return Promise.all(
    files.toSorted().map((name) => readLog(join(folder, name))),
  );
}

async function readLog(file: string): Promise<TestLog> {
  await using log = await openLogRecords(file);
  const events: SessionEvent[] = [];
  for await (const { record } of log.records) {
    if ("run" in record) events.push(...membersOf(record.run));
    else events.push(eventAt(record.event, events.length));
  }
  return { header: log.header, events };
}

function eventAt(event: UncheckedEvent, seq: number): SessionEvent {
  const { type, data, ...rest } = checkEvent(event, seq);
  checkData(type, data);
  return {
    type,
    seq,
    time: rest.time ?? seq * SECOND_MS,
    data,
    ...(rest.ignorable ? { ignorable: true } : {}),
    ...(rest.sourceEventSeqs === null
      ? {}
      : { sourceEventSeqs: rest.sourceEventSeqs }),
    ...(rest.surfaceOp === null ? {} : { surfaceOp: rest.surfaceOp }),
  };
}
