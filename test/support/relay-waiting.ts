/** Waiting: for a state that will come, and until a test says so. */
import { vi } from "vitest";

/** Runs the check until it passes; as long as a loaded machine may need. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 20_000, interval: 10 });
}

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** Something to wait for until it is opened. */
export function gate(): Gate {
  const waiting: (() => void)[] = [];
  const opened = new Promise<void>((resolve) => waiting.push(resolve));
  return {
    opened,
    open() {
      for (const resolve of waiting) resolve();
    },
  };
}
