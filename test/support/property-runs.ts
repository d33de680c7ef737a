/** Property tests: the same cases on every run, or, for as long as you let them, new ones. */
import fc from "fast-check";

/** Whether there is all the time in the world. */
export const isLong = process.env["TURNLOG_TEST_LONG"] !== undefined;

if (!isLong) fc.configureGlobal({ seed: 20_261_130 });

/** How many cases a property is tried on: `runs`, or many more in the long run. */
export function runs(count: number): number {
  return isLong ? count * 25 : count;
}
