/** The schema of the log and of control, and the column kinds its tables share. */
import { customType, pgSchema } from "drizzle-orm/pg-core";

export const turnlog = pgSchema("turnlog");

/** Text compared byte by byte, so that ids sort the same on every server. */
export const idText = customType<{ data: string }>({
  dataType: () => 'text collate "C"',
});

/** 16 bytes of a content digest. */
export const digestBytes = customType<{ data: Buffer }>({
  dataType: () => "bytea",
});
