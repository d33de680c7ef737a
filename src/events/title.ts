/** What a `session/title` event says. */
import { member } from "./event.ts";
import type { JsonValue } from "./json.ts";
import { storableTextOrNull } from "./text.ts";

export interface Title {
  readonly title: string;
  readonly source: string;
}

/** Null when the data holds no title. */
export function readTitle(data: JsonValue): Title | null {
  const title = storableTextOrNull(member(data, "title"));
  const source = storableTextOrNull(member(member(data, "source"), "kind"));
  return title === null || source === null ? null : { title, source };
}
