/**
 * The records of a session log in order, up to where its file is torn. A writer that died leaves a tail that nobody was
 * told is stored: it is left out. Damage that a finished turn stands behind is no such tail: the file is refused.
 */
import type { SessionHeader } from "../events/header.ts";
import { isJsonObject, type JsonObject } from "../events/json.ts";
import { eventCountOf, type LogRecord } from "../events/log-record.ts";
import { LegacyEvents } from "./legacy-events.ts";
import { LogFileError } from "./log-file-error.ts";
import { at, openLogLines, parseRecord } from "./log-lines.ts";
import type { Line } from "./read-lines.ts";

/** Where the whole part of a file ends before the file does. */
export interface TornTail {
  /** First line that is left out; from 1, the header included. */
  readonly line: number;
  readonly reason: string;
}

export interface PlacedRecord {
  /** Line of the file it stands in; from 1, the header included. */
  readonly line: number;
  /** Length of that line. */
  readonly characters: number;
  /** Seq of its (first) event. */
  readonly seq: number;
  readonly record: LogRecord;
}

/** What reading a log has come upon so far. */
export interface ReadingNotes {
  /** Null when the file is whole. */
  readonly tail: TornTail | null;
  /** Events that were brought into their present shape. */
  readonly converted: number;
  /** What came of a transcript of another agent, and what did not: one line each. */
  readonly remarks: readonly string[];
}

/** An open log; disposing of it closes the file. */
export interface LogRecords extends AsyncDisposable {
  readonly header: SessionHeader;
  /** To be read once. */
  readonly records: AsyncIterable<PlacedRecord>;
  /** Complete once the records are read. */
  readonly notes: () => ReadingNotes;
}

/** Opens a log from its beginning. It is read twice; the second time with what the first has come upon. */
export type OpenLog = (before?: ReadingNotes) => Promise<LogRecords>;

/** @throws LogFileError here and while records are read */
export async function openLogRecords(
  file: string,
  before?: ReadingNotes,
): Promise<LogRecords> {
  const { header, lines } = await openLogLines(file);
  const dropsTriggers = before !== undefined && before.converted > 0;
  const reader = new RecordReader(
    new LegacyEvents(header.id, { dropsTriggers }),
  );
  return {
    header,
    records: reader.read(lines),
    notes: () => ({
      tail: reader.tail,
      converted: reader.converted,
      remarks: [],
    }),
    [Symbol.asyncDispose]: async () => {
      await lines.return(undefined);
    },
  };
}

class RecordReader {
  tail: TornTail | null = null;
  readonly #legacy: LegacyEvents;
  #seq = 0;

  constructor(legacy: LegacyEvents) {
    this.#legacy = legacy;
  }

  get converted(): number {
    return this.#legacy.converted;
  }

  async *read(lines: AsyncGenerator<Line>): AsyncGenerator<PlacedRecord> {
    for await (const line of lines) {
      const found = readNext(line, this.#seq);
      if ("reason" in found) {
        this.tail = { line: line.number, reason: found.reason };
        await refuseDamage(line, found, lines);
        return;
      }
      const record = this.#upgraded(line, found);
      yield {
        line: line.number,
        characters: line.text.length,
        seq: this.#seq,
        record,
      };
      this.#seq += eventCountOf(record);
    }
  }

  #upgraded(line: Line, record: LogRecord): LogRecord {
    if ("run" in record) return record;
    const event = at(line.number, () =>
      this.#legacy.upgrade(record.event, this.#seq),
    );
    return event === record.event ? record : { ...record, event };
  }
}

/** A line that is not the next record of the log. */
interface Fault {
  readonly reason: string;
  /** The event that it is nevertheless, at another place. */
  readonly event: JsonObject | null;
}

function readNext(line: Line, seq: number): LogRecord | Fault {
  try {
    const record = parseRecord(line);
    const found = "run" in record ? record.run.seq0 : record.event["seq"];
    if (found === seq) return record;
    return {
      reason: `seq is ${JSON.stringify(found)}, but seq ${seq} comes next`,
      event: "event" in record ? record.event : null,
    };
  } catch (error) {
    if (!(error instanceof LogFileError) || error.code !== "LOG_CORRUPT")
      throw error;
    return { reason: error.message, event: null };
  }
}

/** @throws LogFileError when the fault is no torn tail; reads the file to its end */
async function refuseDamage(
  line: Line,
  { reason, event }: Fault,
  rest: AsyncIterable<Line>,
): Promise<void> {
  const refuse = (why: string): never => {
    throw new LogFileError("LOG_CORRUPT", line.number, `${reason}; ${why}`);
  };
  if (line.isSealed)
    refuse("it was written whole, so it is damage and no torn tail");
  if (endsTurn(event)) refuse("it ends a turn, so it is no torn tail");
  for await (const later of rest) {
    if (endsTurn(valueOf(later)))
      refuse(
        `line ${later.number} behind it ends a turn, so it is damage and no torn tail`,
      );
  }
}

function endsTurn(value: unknown): boolean {
  return isJsonObject(value) && value["type"] === "turn/end";
}

/** Null for a line that can't be read: behind the damage only what can be counts. */
function valueOf(line: Line): unknown {
  try {
    return line.fault === null ? JSON.parse(line.text) : null;
  } catch {
    return null;
  }
}
