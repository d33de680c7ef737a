/** Waits for the signal to stop; a second one stops at once. Call it before starting anything that must be stopped. */

/** Exit code of a process that an impatient second signal ends. */
const IMPATIENT = 130;

/** Exit code of a process that gave up its work at a signal. */
export class StoppedError extends Error {
  readonly exitCode: number;
  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
    this.exitCode = signal === "SIGTERM" ? 143 : IMPATIENT;
  }
}

/** Aborted with a StoppedError when the process is told to stop. */
export function abortOnSignal(): AbortSignal {
  const stop = new AbortController();
  void untilStopped().then((signal) => stop.abort(new StoppedError(signal)));
  return stop.signal;
}

export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      resolve(signal);
      process.once(signal, () => process.exit(IMPATIENT));
    };
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
  });
}
