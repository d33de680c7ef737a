/** Whether a process id is in use. */
import { hasCode } from "./error-code.ts";

/** True when the process exists, whoever's it is; a zombie counts. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: alive, but somebody else's.
    return hasCode(error, "EPERM");
  }
}
