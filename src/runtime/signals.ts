/** Waits for the signal to stop; a second one stops at once. Call it before starting anything that must be stopped. */

/** Exit code of a process that an impatient second signal ends. */
const IMPATIENT = 130;

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
