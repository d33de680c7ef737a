/** What our tables derive from a log, in the terms of the reference, and both from one log. */
import type { SessionEvent } from "../../src/events/event.ts";
import { parseHeader } from "../../src/events/header.ts";
import { parseJson, type JsonValue } from "../../src/events/json.ts";
import { messages } from "../../src/projections/messages/projection.ts";
import { sessions } from "../../src/projections/sessions/projection.ts";
import { titles } from "../../src/projections/titles/projection.ts";
import type { RowValues } from "../../src/projector/row-buffer.ts";
import { pureFold } from "./pure-fold.ts";
import type { LogLike } from "./reference-log.ts";
import { referenceFold } from "./reference.ts";

export interface Derived {
  /** JSON text of the content of each message, in the model's order. */
  readonly contents: readonly string[];
  readonly title: string | null;
  readonly tokenUsage: JsonValue;
  readonly sessionStats: JsonValue;
}

/** From rows of the messages, titles and sessions tables. */
export function derivedFromRows(
  messageRows: readonly RowValues[],
  titleRows: readonly RowValues[],
  sessionRow: RowValues | undefined,
): Derived {
  const shown = messageRows
    .filter((row) => row["on_surface"] === true)
    .toSorted((a, b) => Number(a["order_key"]) - Number(b["order_key"]));
  const title = textOf(
    titleRows.find((row) => row["is_current"] === true)?.["title"],
  );
  return {
    contents: shown.map((row) => String(row["content"])),
    title,
    tokenUsage: parseJson(
      textOf(sessionRow?.["reference_token_usage"]) ?? "null",
    ),
    sessionStats: parseJson(
      textOf(sessionRow?.["reference_session_stats"]) ?? "null",
    ),
  };
}

export function derivedByUs(log: LogLike): Derived {
  const { header, events } = ours(log);
  return derivedFromRows(
    pureFold(messages, header, events)["messages"] ?? [],
    pureFold(titles, header, events)["titles"] ?? [],
    pureFold(sessions, header, events)["sessions"]?.[0],
  );
}

export function derivedByReference(log: LogLike): Derived {
  const fold = referenceFold(log.header, log.events);
  return {
    contents: fold.messages.map((message) =>
      JSON.stringify(contentOf(message)),
    ),
    title: fold.title,
    tokenUsage: json(fold.tokenUsage),
    sessionStats: json(fold.sessionStats),
  };
}

/** The log in our types. */
export function ours(log: LogLike): {
  readonly header: ReturnType<typeof parseHeader>;
  readonly events: readonly SessionEvent[];
} {
  const events: SessionEvent[] = JSON.parse(JSON.stringify(log.events));
  return { header: parseHeader(json(log.header)), events };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function contentOf(message: unknown): unknown {
  return typeof message === "object" && message !== null && "content" in message
    ? message.content
    : undefined;
}

function json(value: unknown): JsonValue {
  return parseJson(JSON.stringify(value));
}
