/** Derived messages: what the model sees after a prefix of a log, in its order and verbatim. */
import { LogCorruptError } from "../errors.ts";
import { member, type SessionEvent } from "./event.ts";
import { isMessage, type Message } from "./message.ts";
import { shadowedNodes } from "./surface.ts";
import { isSurfaceType } from "./vocabulary.ts";

/** A message on the surface, and the event it comes from. */
export interface DerivedMessage {
  readonly seq: number;
  /** As the event holds it, nothing added or healed. */
  readonly message: Message;
}

/** Derives messages event by event; holds those on the surface and nothing else. */
export interface MessageFold {
  /**
   * Takes the next event of the log; those off the surface may be left out.
   * @throws LogCorruptError when a replacement names no range of the surface, or a surface event has no message.
   */
  apply(event: SessionEvent): void;
  /** Messages of the events so far, in surface order: a list of its own each time. */
  messages(): DerivedMessage[];
}

/** Starts with the empty surface. */
export function createMessageFold(): MessageFold {
  const nodes: Node[] = [];
  return {
    apply(event) {
      if (isSurfaceType(event.type)) place(nodes, event);
    },
    messages: () =>
      nodes.flatMap(({ seq, message }) =>
        message === null ? [] : [{ seq, message }],
      ),
  };
}

/**
 * The messages that the model sees after these events: all of a log, or the first so many of it.
 * @throws LogCorruptError see `MessageFold`
 */
export function deriveMessages(
  events: Iterable<SessionEvent>,
): DerivedMessage[] {
  const fold = createMessageFold();
  for (const event of events) fold.apply(event);
  return fold.messages();
}

/** What stands on the surface; without a message where there is nothing to see. */
interface Node {
  readonly seq: number;
  readonly message: Message | null;
}

/** Puts the event on the surface, at the end or in place of the nodes it names. */
function place(nodes: Node[], event: SessionEvent): void {
  const { seq, surfaceOp = "append" } = event;
  const message = messageOf(event);
  const node = { seq, message: isInvisible(event, message) ? null : message };
  if (surfaceOp === "append") {
    nodes.push(node);
    return;
  }
  const seqs = nodes.map((other) => other.seq);
  const shadowed = shadowedNodes({ seqs, places: {} }, surfaceOp);
  if (typeof shadowed === "string")
    throw new LogCorruptError(`Event ${seq} can't replace: ${shadowed}.`);
  nodes.splice(seqs.indexOf(surfaceOp.start), shadowed.length, node);
}

function messageOf({ type, seq, data }: SessionEvent): Message {
  const message = type === "user/message" ? data : member(data, "message");
  if (!isMessage(message))
    throw new LogCorruptError(`Event ${seq} (${type}) holds no message.`);
  return message;
}

/** An assistant message without any content only carries the usage of its step: a node, but nothing to see. */
function isInvisible({ type }: SessionEvent, { content }: Message): boolean {
  return type === "assistant/message" && content.length === 0;
}
