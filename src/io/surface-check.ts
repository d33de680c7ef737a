/** Follows the surface through a log file: a replacement must name current nodes and cite all that it shadows. */
import type { SessionEvent } from "../events/event.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import {
  appendNode,
  EMPTY_SURFACE,
  replaceNodes,
  shadowedNodes,
  type Surface,
} from "../events/surface.ts";

export class SurfaceCheck {
  #surface: Surface = EMPTY_SURFACE;

  /** @throws RuleViolation when the event's place on the surface is not there (spec 4.3) */
  add(event: SessionEvent): void {
    const { surfaceOp, seq } = event;
    if (surfaceOp === undefined) return;
    if (surfaceOp === "append") {
      this.#surface = appendNode(this.#surface, seq);
      return;
    }
    const shadowed = shadowedNodes(this.#surface, surfaceOp);
    if (typeof shadowed === "string")
      throw new RuleViolation(
        shadowed,
        "surfaceOp",
        `replaces ${surfaceOp.start} to ${surfaceOp.end}: ${shadowed}`,
      );
    const sources = new Set(event.sourceEventSeqs);
    const missing = shadowed.filter((node) => !sources.has(node));
    if (missing.length > 0)
      throw new RuleViolation(
        "sources-miss-shadowed",
        "sourceEventSeqs",
        `must name every event it shadows; ${missing.join(", ")} missing`,
      );
    this.#surface = replaceNodes(this.#surface, shadowed, seq);
  }
}
