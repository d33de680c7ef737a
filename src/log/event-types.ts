/** The registry of further event types: a log may hold them without marking them ignorable. */
import type { Queryable } from "../db/connect.ts";
import { EventInvalidError } from "../errors.ts";
import { requireText } from "./bad-call.ts";
import {
  isKnownType,
  isRetiredType,
  isStorageTag,
} from "../events/vocabulary.ts";

export interface RegisteredType {
  readonly type: string;
  readonly description: string;
}

/** What a process knows of the registry; types are only ever added, so what it knows stays true. */
export class EventTypes {
  readonly #db: Queryable;
  readonly #registered = new Set<string>();

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** True for a type that is known without asking the database. */
  hasMet(type: string): boolean {
    return isKnownType(type) || this.#registered.has(type);
  }

  /** True for a type that needs no mark of being ignorable; asks the database about one it has not met. */
  async knows(type: string): Promise<boolean> {
    if (this.hasMet(type)) return true;
    requireText(type, "type");
    const [row] = await this.#db.rows(
      {
        name: "turnlog_event_type",
        text: "select from turnlog.event_types where type = $1",
      },
      [type],
    );
    if (row !== undefined) this.#registered.add(type);
    return row !== undefined;
  }

  /** Adds a log-only type for all clients of the store; adding it again changes its description. */
  async register({ type, description }: RegisteredType): Promise<void> {
    requireText(description, "description");
    if (!/^[\w.-]+(\/[\w.-]+)+$/.test(type))
      throw refused(type, "must read family/name");
    if (isKnownType(type)) throw refused(type, "is a known type already");
    if (isRetiredType(type) || isStorageTag(type))
      throw refused(type, "can't be used for events any more");
    await this.#db.rows(
      {
        text: `
          insert into turnlog.event_types (type, description)
          values ($1, $2)
          on conflict (type) do update set description = excluded.description`,
      },
      [type, description],
    );
    this.#registered.add(type);
  }

  list(): Promise<RegisteredType[]> {
    return this.#db.rows<RegisteredType>({
      text: "select type, description from turnlog.event_types order by type",
    });
  }
}

function refused(type: string, reason: string): EventInvalidError {
  return new EventInvalidError({
    index: null,
    seq: null,
    type,
    rule: "event-type",
    path: "type",
    reason,
  });
}
