/** Who is told of what a writer has stored. */
import { WriterReentrantError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";
import { badCall } from "../log/bad-call.ts";

/** Called with each stored event, in order, after the commit. */
export type EventListener = (event: SessionEvent) => unknown;

interface Subscription {
  readonly listener: EventListener;
  readonly onError: (error: unknown) => unknown;
}

export class Listeners {
  readonly #sessionId: string;
  readonly #subscriptions = new Set<Subscription>();
  #isPublishing = false;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /**
   * Returns the function that ends the subscription.
   * @throws EventInvalidError for what can't be called
   */
  add(
    listener: EventListener,
    onError: (error: unknown) => unknown,
  ): () => void {
    requireFunction(listener, "listener");
    requireFunction(onError, "onError");
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

function requireFunction(value: unknown, path: string): void {
  if (typeof value !== "function") throw badCall(path, "must be a function");
}

function tell({ listener, onError }: Subscription, event: SessionEvent): void {
  guard(
    () => listener(event),
    (error) =>
      // The handler of errors is the listener's as well: what is stored is stored.
      guard(
        () => onError(error),
        () => undefined,
      ),
  );
}

/** Calls what may fail at once or, where it gives a promise, later. */
function guard(call: () => unknown, failed: (error: unknown) => unknown): void {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(failed);
  } catch (error) {
    failed(error);
  }
}
