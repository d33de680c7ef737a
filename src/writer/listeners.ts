/** Who is told of what a writer has stored. */
import { WriterReentrantError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";

/** Called with each stored event, in order, after the commit. */
export type EventListener = (event: SessionEvent) => unknown;

interface Subscription {
  readonly listener: EventListener;
  readonly onError: (error: unknown) => void;
}

export class Listeners {
  readonly #sessionId: string;
  readonly #subscriptions = new Set<Subscription>();
  #isPublishing = false;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** Returns the function that ends the subscription. */
  add(listener: EventListener, onError: (error: unknown) => void): () => void {
    const subscription = { listener, onError };
    this.#subscriptions.add(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  /** @throws WriterReentrantError when the call comes from inside a listener */
  requireQuiet(): void {
    if (this.#isPublishing)
      throw new WriterReentrantError({ sessionId: this.#sessionId });
  }

  /** Tells all listeners; one that fails keeps no other from being told. */
  publish(events: readonly SessionEvent[]): void {
    this.#isPublishing = true;
    for (const event of events)
      for (const subscription of this.#subscriptions) tell(subscription, event);
    this.#isPublishing = false;
  }
}

function tell({ listener, onError }: Subscription, event: SessionEvent): void {
  const contained = (error: unknown): void => {
    try {
      onError(error);
    } catch {
      // The handler of errors is the listener's as well: what is stored is stored.
    }
  };
  try {
    const result = listener(event);
    if (result instanceof Promise) result.catch(contained);
  } catch (error) {
    contained(error);
  }
}
