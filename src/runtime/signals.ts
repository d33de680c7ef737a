/** Waits for the signal to stop; a second one stops at once. Call it before starting anything that must be stopped. */

/** Exit code of a process that an impatient second signal ends. */
const IMPATIENT = 130;

export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise(onStop);
}

/** Calls `stop` at the first signal to stop; a second one ends the process at once. */
export function onStop(stop: (signal: NodeJS.Signals) => void): void {
  const first = (signal: NodeJS.Signals): void => {
    stop(signal);
    process.once(signal, () => process.exit(IMPATIENT));
  };
  process.once("SIGINT", first);
  process.once("SIGTERM", first);
}
