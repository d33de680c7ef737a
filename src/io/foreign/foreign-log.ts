/** A transcript of another agent, opened like a log file of ours. */
import { stringifyJson } from "../../events/stringify-json.ts";
import type { LogRecords, OpenLog, PlacedRecord } from "../log-records.ts";
import { requireFile } from "../require-file.ts";
import type { ConversionNote } from "./conversion-notes.ts";
import {
  convertForeignLog,
  type ConvertedLog,
  type ForeignFormat,
} from "./convert.ts";

/** Converts the file each time it is opened, so that it is held only while it is read. */
export function foreignLog(format: ForeignFormat, file: string): OpenLog {
  return async () => {
    await requireFile(file);
    return recordsOf(await convertForeignLog(format, file));
  };
}

function recordsOf({ header, events, notes }: ConvertedLog): LogRecords {
  return {
    header,
    records: placed(events),
    notes: () => ({ tail: null, converted: 0, remarks: notes.map(remarkOf) }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function* placed(
  events: ConvertedLog["events"],
): AsyncGenerator<PlacedRecord> {
  for (const { line, event } of events) {
    const characters = stringifyJson(event).length;
    const record = { event: { ...event }, characters };
    yield { line, characters, seq: event.seq, record };
  }
}

function remarkOf({ line, what, count }: ConversionNote): string {
  const where = line === null ? "" : ` (first in line ${line})`;
  return `${what}: ${count}${where}`;
}
