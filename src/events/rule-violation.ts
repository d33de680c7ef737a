/** A broken rule, before it is known which batch or file line it stands in. */

export class RuleViolation extends Error {
  /** Short stable name of the rule. */
  readonly rule: string;
  /** Where in the event; empty for the event itself. */
  readonly path: string;
  /** What is wrong, as the end of a sentence that starts with the path. */
  readonly reason: string;
  constructor(rule: string, path: string, reason: string) {
    super(`${path === "" ? "" : `${path} `}${reason}`);
    this.rule = rule;
    this.path = path;
    this.reason = reason;
  }
}
