/** Says where in an append a rule is broken. */
import { EventInvalidError } from "../errors.ts";
import { RuleViolation } from "../events/rule-violation.ts";

/** Gives a violation its place in the batch. */
export function located<T>(
  type: unknown,
  index: number,
  seq: number | null,
  check: () => T,
): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    const { rule, path, reason } = error;
    throw new EventInvalidError({
      index,
      seq,
      type: typeof type === "string" ? type : null,
      rule,
      path,
      reason,
    });
  }
}
