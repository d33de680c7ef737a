/** The reference with its own rules alone: whether it takes a log, or one event after another. */
import { randomUUID } from "node:crypto";
import { Context } from "@deepseek-ai/cordis";
import { InvariantRegistry } from "@deepseek-ai/dsh-invariants";
import {
  Session,
  SessionId,
  SessionStore,
  type SessionEvent,
  type SessionHeader,
  type SurfaceIntent,
} from "@deepseek-ai/dsh-session";
import * as sessionInvariant from "@deepseek-ai/dsh-session/invariant";
import type { AnyEvent } from "./illegal-changes.ts";
import { unknownRequiredTypes } from "./reference.ts";

const world = new Context();
await world.plugin(SessionStore);
await world.plugin(InvariantRegistry);
await world.plugin(sessionInvariant);

/** Why the reference would not take the log: to open it, or by the rules of its companion; null when it would. */
export function referenceRefusal(
  header: object,
  events: readonly AnyEvent[],
): string | null {
  const [unknown] = unknownRequiredTypes(events);
  if (unknown !== undefined) return `type ${unknown} is unknown`;
  return refusalOf(() => {
    openReference(header, events)[Symbol.dispose]();
  });
}

/** A live session of the reference, its companion in force. */
export interface LiveReference extends Disposable {
  /** Why the event is refused; null when it is appended. */
  append(event: AnyEvent): string | null;
  /** The log so far without the mark that opening it left. */
  readonly length: number;
  readonly surface: readonly number[];
  /** JSON text of each message. */
  readonly messages: readonly string[];
  readonly requestHeader: unknown;
}

/** Opens a session over these events, as after a restart. */
export function openReference(
  header: object,
  events: readonly AnyEvent[],
): LiveReference {
  const id = SessionId(randomUUID());
  const restored: object = { ...structuredClone(header), id };
  if (!isHeader(restored)) throw new Error("header without id");
  const seed = structuredClone(events).filter(isEvent);
  return live(Session.fromRestore(id, seed, restored));
}

/** Opens a session without events. */
export function startReference(header: object): LiveReference {
  const id = SessionId(randomUUID());
  const fresh: object = { ...structuredClone(header), id };
  if (!isHeader(fresh)) throw new Error("header without id");
  return live(Session.create(id, undefined, fresh));
}

function live(session: Session): LiveReference {
  const leave = world.sessions.enter(session);
  try {
    world.sessions.announce(session);
  } catch (error) {
    leave();
    throw error;
  }
  return {
    append: (event) => refusalOf(() => appendTo(session, event)),
    get length() {
      return session.seq;
    },
    get surface() {
      return [...session.surface.nodes];
    },
    get messages() {
      return session.deriveMessages().map((each) => JSON.stringify(each));
    },
    get requestHeader() {
      return session.requestHeader() ?? null;
    },
    [Symbol.dispose]: leave,
  };
}

function appendTo(session: Session, given: AnyEvent): void {
  const event: object = given;
  if (!isMessageEvent(event)) throw new Error("is no event");
  const { surfaceOp, sourceEventSeqs } = given;
  const marks: object = { surfaceOp, sourceEventSeqs };
  if (!isIntent(marks)) throw new Error("has no marks");
  session.append(event.type, event.data, marks);
}

function refusalOf(attempt: () => void): string | null {
  try {
    attempt();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** These name the type only: the reference validates what it is given. */
function isHeader(header: object): header is SessionHeader {
  return "id" in header;
}

function isEvent(_event: object): _event is SessionEvent {
  return true;
}

function isMessageEvent(
  _event: object,
): _event is SessionEvent<"user/message"> {
  return true;
}

function isIntent(_marks: object): _marks is SurfaceIntent {
  return true;
}
