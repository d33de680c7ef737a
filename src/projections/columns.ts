/** Column kinds and view expressions that read tables share. */
import { bigint, customType } from "drizzle-orm/pg-core";

/** Text compared byte by byte: session ids in every key. */
export const idText = customType<{ data: string }>({
  dataType: () => 'text collate "C"',
});

/** An integer that JavaScript holds exactly: seqs, times in epoch ms, token counts. */
export const safeBigint = (name: string) => bigint(name, { mode: "number" });

/** A time in ms as `timestamptz`, for a view; null outside the years 1 to 9999, which events may leave. */
export function asTimestamp(column: string): string {
  return `case when ${column} between -62135596800000 and 253402300799999 then to_timestamp(${column} / 1000.0) end`;
}
