/** Writes one session: takes events in order, stores them in batches, and is fenced off when another writer takes over. */
import { WriterClosedError } from "../errors.ts";
import type { NewEvent } from "../events/event.ts";
import type { SessionHeader } from "../events/header.ts";
import { AppendId, type SessionId } from "../events/ids.ts";
import type { AppendResult, Creation } from "../log/append-request.ts";
import { takeEach } from "../log/take-events.ts";
import { Batches, type Batch, type Taken } from "./batches.ts";
import { startHeartbeat, type Heartbeat } from "./heartbeat.ts";
import { releaseHold, type Hold } from "./hold.ts";
import { Intake } from "./intake.ts";
import { knownAppend } from "./known-append.ts";
import { Listeners, type EventListener } from "./listeners.ts";
import { Sender } from "./sender.ts";
import { storeBatch, type BatchTarget } from "./store-batch.ts";
import { storedEvent } from "./stored-event.ts";
import type {
  WriterContext,
  WriterSettings,
  WriterStart,
} from "./writer-settings.ts";

/** What an event may have beside its type and its data. */
export type EventMarks = Omit<NewEvent, "type" | "data" | "seq">;

/** One for each opening of a session; made by `store.open` and `store.create`. */
export class SessionWriter implements AsyncDisposable {
  readonly sessionId: SessionId;
  readonly header: SessionHeader;
  /** Of this writer: every later one has a higher number. */
  readonly epoch: number;
  readonly #context: WriterContext;
  readonly #settings: WriterSettings;
  readonly #hold: Hold;
  readonly #batches: Batches;
  readonly #intake: Intake;
  readonly #sender: Sender;
  readonly #listeners: Listeners;
  /** Until the session is created. */
  #creation: Creation | null;
  #heartbeat: Heartbeat | null = null;
  #closing: Promise<void> | null = null;

  constructor(
    context: WriterContext,
    start: WriterStart,
    settings: WriterSettings,
  ) {
    const { hold, header, head, state, creation } = start;
    this.sessionId = hold.sessionId;
    this.header = header;
    this.epoch = hold.epoch;
    this.#context = context;
    this.#settings = settings;
    this.#hold = hold;
    this.#creation = creation;
    this.#batches = new Batches(settings);
    this.#intake = new Intake(context, hold.sessionId, head, state);
    this.#listeners = new Listeners(hold.sessionId);
    this.#sender = new Sender(
      this.#batches,
      head,
      (batch) => this.#store(batch),
      ({ events, now }) =>
        this.#listeners.publish(events.map((event) => storedEvent(event, now))),
    );
    if (creation === null) this.#beat();
  }

  /** Seq of the next event, behind those that are taken and not stored yet. */
  get nextSeq(): number {
    return this.#intake.nextSeq;
  }

  /** Next seq after what is known to be stored. */
  get storedSeq(): number {
    return this.#sender.storedTo;
  }

  /**
   * Takes one event and resolves to its seq. It is stored with its neighbours, within `maxDelayMs`; `flush` says when it
   * is. Await it: while too much waits to be stored, it waits too. When it rejects, the event was not taken.
   * @throws EventInvalidError, EventTypeUnknownError, EventTooLargeError for the event; WriterReentrantError,
   * WriterClosedError; what `flush` throws, when the writer is at its end, or storing fails and there is no room left
   * @example await writer.write("turn/start", { turn: 1 })
   */
  async write(
    type: string,
    data: unknown,
    marks?: EventMarks,
  ): Promise<number> {
    this.#requireOpen();
    const { time = Date.now(), ...others } = marks ?? {};
    const given = takeEach([{ type, time, data, ...others }], null);
    const { failures } = this.#sender;
    return this.#intake.inOrder(async () => {
      await this.#sender.room(failures);
      const taken = await this.#intake.check(given, () => this.#storeTaken());
      this.#batches.add(taken);
      return this.#take(taken);
    });
  }

  /**
   * Appends events as one append, all or none; resolves when they are stored, and all that was written before them. When
   * storing fails they stay taken: `flush`, or the same call with the same `appendId`, tries again.
   * @throws EventInvalidError, EventTypeUnknownError, EventTooLargeError, AppendIdReusedError, WriterReentrantError,
   * WriterClosedError: nothing was taken; else what `flush` throws
   */
  async append(
    events: readonly NewEvent[],
    options?: { readonly appendId?: string },
  ): Promise<AppendResult> {
    this.#requireOpen();
    const given = takeEach(events, null);
    const appendId = AppendId(options?.appendId);
    const mayBeKnown = options?.appendId !== undefined;
    const { failures } = this.#sender;
    const result = await this.#intake.inOrder(async () => {
      const known = mayBeKnown
        ? await knownAppend(this.#target(), this.#batches, given, appendId)
        : null;
      if (known !== null) return known;
      await this.#sender.room(failures);
      const taken = await this.#intake.check(given, () => this.#storeTaken());
      if (given.length > 0) this.#batches.addAlone(taken, appendId);
      const firstSeq = this.#take(taken);
      return { firstSeq, nextSeq: this.nextSeq, deduplicated: false };
    });
    if (!result.deduplicated) await this.#sender.storedBelow(result.nextSeq);
    return result;
  }

  /**
   * Resolves when everything that was taken before the call is stored: the barrier before a model is asked or a tool runs.
   * @throws AppendOutcomeUnknownError, DatabaseUnavailableError, SessionBusyError: what was taken stays taken, in its order;
   * calling again is safe and stores nothing twice. WriterFencedError, WrongExpectedSeqError, SessionDeletedError,
   * RulesOutdatedError: the writer is at its end, what was taken and not stored is lost, and every further call throws the
   * same. WriterReentrantError, WriterClosedError
   */
  async flush(): Promise<void> {
    this.#requireOpen();
    await this.#intake.inOrder(() => Promise.resolve());
    await this.#storeTaken();
  }

  /**
   * Has `listener` called with each event once it is stored, in order. What it throws goes to `onError` and nowhere else.
   * It must not call this writer before it has returned. Returns the function that ends it.
   * @throws EventInvalidError for what can't be called
   */
  subscribe(
    listener: EventListener,
    onError: (error: unknown) => unknown = () => undefined,
  ): () => void {
    return this.#listeners.add(listener, onError);
  }

  /**
   * Stores what was taken and lets the session go; it is let go as well when that fails, and what was not stored is lost.
   * @throws what `flush` throws, but nothing where an earlier call has told of the writer's end
   */
  async close(): Promise<void> {
    this.#listeners.requireQuiet();
    await (this.#closing ??= this.#finish());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #requireOpen(): void {
    this.#listeners.requireQuiet();
    const { sessionId } = this;
    if (this.#closing !== null) throw new WriterClosedError({ sessionId });
    this.#sender.requireGoing();
  }

  /** Returns the seq of the first event that was taken. */
  #take(taken: Taken): number {
    const firstSeq = this.nextSeq;
    this.#intake.take(taken);
    this.#sender.wake();
    return firstSeq;
  }

  #storeTaken(): Promise<void> {
    return this.#sender.storedBelow(this.nextSeq);
  }

  #target(): BatchTarget {
    const { db, limits } = this.#context;
    const { holdMs, timeoutMs } = this.#settings;
    const creation = this.#creation;
    return { db, hold: this.#hold, creation, limits, holdMs, timeoutMs };
  }

  async #store(batch: Batch): Promise<void> {
    await storeBatch(this.#target(), batch);
    this.#context.ring();
    if (this.#creation === null) return;
    this.#creation = null;
    this.#beat();
  }

  #beat(): void {
    const { db } = this.#context;
    const { holdMs } = this.#settings;
    this.#heartbeat = startHeartbeat(db, this.#hold, holdMs, (error) => {
      void this.#heartbeat?.stop();
      this.#sender.stop(error);
    });
  }

  async #finish(): Promise<void> {
    try {
      await this.#intake.inOrder(() => Promise.resolve());
      // Whoever was told of the end already is not told again: it would hide the first error.
      if (this.storedSeq < this.nextSeq && !this.#sender.isEndTold)
        await this.#storeTaken();
    } finally {
      const stopped = this.#heartbeat?.stop();
      this.#sender.stop(new WriterClosedError({ sessionId: this.sessionId }));
      await stopped;
      await this.#release();
    }
  }

  async #release(): Promise<void> {
    // A session that was not created has nothing to let go.
    if (this.#creation !== null) return;
    try {
      await releaseHold(this.#context.db, this.#hold);
    } catch {
      // The hold then ends by itself. The events are stored, or their error is on its way to the caller.
    }
  }
}
