/** The tree of a pi transcript: that it has one branch, and which session it was branched from. */
import { basename } from "node:path";
import type { JsonObject } from "../../events/json.ts";
import type { ForeignLine } from "./foreign-lines.ts";
import { fieldAt, textAt } from "./fields.ts";
import { refuse } from "./refuse.ts";

/** @throws LogFileError at the entry that continues from another one than the entry before it */
export function checkSingleBranch(entries: readonly ForeignLine[]): void {
  let last: ForeignLine | null = null;
  for (const entry of entries) {
    const id = textAt(entry.value, "id");
    if (id === null) continue;
    const parent = textAt(entry.value, "parentId");
    if (parent !== textAt(last?.value, "id"))
      refuse(
        entry.number,
        `continues from entry ${parent ?? "none"} and not from line ${last?.number ?? 1}: the transcript has several branches. Export one of them to a session of its own and import that.`,
      );
    last = entry;
  }
}

/** Id of the session that this one was branched from: its file's name ends in it. */
export function parentOf(header: JsonObject): string | null {
  const path =
    fieldAt(header, "branchedFrom") ?? fieldAt(header, "parentSession");
  if (typeof path !== "string") return null;
  const name = basename(path.replaceAll("\\", "/")).replace(/\.jsonl$/, "");
  const id = name.slice(name.lastIndexOf("_") + 1);
  return id === "" ? null : id;
}
