/**
 * Stores a writer's batches one after another. A batch that fails stays first, and all behind it wait: whoever waits is
 * told, and the next event or flush sends it again.
 */
import { TurnlogError } from "../errors.ts";
import type { Batch, Batches } from "./batches.ts";

interface Waiter {
  /** True once there is nothing to wait for. */
  readonly isDone: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Sender {
  readonly #batches: Batches;
  readonly #store: (batch: Batch) => Promise<void>;
  readonly #publish: (batch: Batch) => void;
  #waiters: Waiter[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isSending = false;
  /** Every batch that begins below this is sent at once. */
  #flushTo = 0;
  #storedTo: number;
  #end: { readonly error: unknown } | null = null;
  #isEndTold = false;
  /** How often a batch has failed, and how at last. */
  #failures = 0;
  #failure: unknown = null;

  /**
   * @param storedTo next seq after what is stored
   * @param store sends a batch until it is answered
   * @param publish is called with each batch that is stored, and must not fail
   */
  constructor(
    batches: Batches,
    storedTo: number,
    store: (batch: Batch) => Promise<void>,
    publish: (batch: Batch) => void,
  ) {
    this.#batches = batches;
    this.#storedTo = storedTo;
    this.#store = store;
    this.#publish = publish;
  }

  /** Next seq after what is stored. */
  get storedTo(): number {
    return this.#storedTo;
  }

  /** How often a batch has failed. */
  get failures(): number {
    return this.#failures;
  }

  /** True once a call has got the error that ended it. */
  get isEndTold(): boolean {
    return this.#isEndTold;
  }

  /** @throws the error that ended it, if one has */
  requireGoing(): void {
    if (this.#end === null) return;
    this.#isEndTold = true;
    throw this.#end.error;
  }

  /** Ends it: nothing is sent any more, and every call gets this error. */
  stop(error: unknown): void {
    this.#end ??= { error };
    this.#isEndTold ||= this.#waiters.length > 0;
    this.#clearTimer();
    this.#tell(error);
  }

  /** To be called after an event was added. */
  wake(): void {
    if (this.#isSending || this.#end !== null) return;
    const { first } = this.#batches;
    if (first === undefined) return;
    if (this.#isDue(first)) void this.#run();
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        this.wake();
      }, first.dueAt - performance.now());
  }

  /** Resolves when everything below `seq` is stored. */
  storedBelow(seq: number): Promise<void> {
    this.#flushTo = Math.max(this.#flushTo, seq);
    return this.#wait(() => this.#storedTo >= seq);
  }

  /**
   * Resolves when there is room for a further event. A call that has stood in line while a batch failed is not the one to
   * try again.
   * @param since `failures` when the call was made
   */
  async room(since: number): Promise<void> {
    if (this.#batches.isFull && this.#failures > since) throw this.#failure;
    return this.#wait(() => !this.#batches.isFull);
  }

  async #wait(isDone: () => boolean): Promise<void> {
    this.requireGoing();
    if (isDone()) return;
    const waiting = new Promise<void>((resolve, reject) => {
      this.#waiters.push({ isDone, resolve, reject });
    });
    this.wake();
    return waiting;
  }

  async #run(): Promise<void> {
    this.#isSending = true;
    this.#clearTimer();
    try {
      for (;;) {
        const { first } = this.#batches;
        if (this.#end !== null || first === undefined || !this.#isDue(first))
          break;
        first.isSealed = true;
        await this.#store(first);
        this.#storedTo = first.firstSeq + first.events.length;
        this.#batches.shift();
        this.#publish(first);
        this.#settle();
      }
      this.#isSending = false;
      this.wake();
    } catch (error) {
      this.#isSending = false;
      this.#fail(error);
    }
  }

  #isDue(batch: Batch): boolean {
    return (
      batch.isSealed ||
      batch.firstSeq < this.#flushTo ||
      batch.dueAt <= performance.now()
    );
  }

  #fail(error: unknown): void {
    this.#failures += 1;
    this.#failure = error;
    if (error instanceof TurnlogError && error.retryable) this.#tell(error);
    else this.stop(error);
  }

  #settle(): void {
    const [done, waiting] = [
      this.#waiters.filter(({ isDone }) => isDone()),
      this.#waiters.filter(({ isDone }) => !isDone()),
    ];
    this.#waiters = waiting;
    for (const { resolve } of done) resolve();
  }

  #tell(error: unknown): void {
    const told = this.#waiters;
    this.#waiters = [];
    for (const { reject } of told) reject(error);
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
