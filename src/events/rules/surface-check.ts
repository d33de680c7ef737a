/**
 * Follows the surface: a replacement must name current nodes, cite all that it shadows, and, where it rewrites a tool
 * result, change nothing but its content.
 */
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../json.ts";
import { SurfaceOrder } from "../surface.ts";
import { isSameJson } from "../same-json.ts";
import { violate, type RuleEvent } from "./rule-event.ts";

/** What is known of a node: its type, and, of a tool result, everything but its content. */
export interface SurfaceNode {
  readonly type: string;
  readonly frame: JsonValue;
}

export class SurfaceCheck {
  readonly #surface: SurfaceOrder;
  readonly #nodes: Map<number, SurfaceNode>;

  /** @param nodes of the current surface; a node that may be rewritten must be among them */
  constructor(
    surface: SurfaceOrder = new SurfaceOrder(),
    nodes: ReadonlyMap<number, SurfaceNode> = new Map(),
  ) {
    this.#surface = surface;
    this.#nodes = new Map(nodes);
  }

  /**
   * Takes the next event; one that is refused leaves the surface as it was.
   * @throws RuleViolation (rules replace-…, sources-miss-shadowed, tool-result-rewrite)
   */
  add(event: RuleEvent): void {
    const { surfaceOp, seq } = event;
    if (surfaceOp === null) return;
    if (surfaceOp === "append") this.#surface.append(seq);
    else {
      const shadowed = this.#shadowedBy(event, surfaceOp);
      this.#surface.replace(shadowed, seq);
      for (const node of shadowed) this.#nodes.delete(node);
    }
    this.#nodes.set(seq, nodeOf(event));
  }

  #shadowedBy(
    event: RuleEvent,
    range: { readonly start: number; readonly end: number },
  ): readonly number[] {
    const shadowed = this.#surface.shadowedBy(range);
    if (typeof shadowed === "string")
      return violate(
        shadowed,
        "surfaceOp",
        `replaces ${range.start} to ${range.end}: ${WHAT_IS_WRONG[shadowed]}`,
      );
    const sources = new Set(event.sourceEventSeqs);
    const missing = shadowed.filter((node) => !sources.has(node));
    if (missing.length > 0)
      violate(
        "sources-miss-shadowed",
        "sourceEventSeqs",
        `must name every event it shadows; ${missing.join(", ")} missing`,
      );
    if (event.type === "tool/result") this.#requireRewrite(event, shadowed);
    return shadowed;
  }

  #requireRewrite(event: RuleEvent, shadowed: readonly number[]): void {
    const [target, ...more] = shadowed;
    if (target === undefined || more.length > 0)
      return violate(
        "tool-result-rewrite",
        "surfaceOp",
        `must replace exactly one node, not ${shadowed.length}`,
      );
    const node = this.#nodes.get(target);
    if (node?.type !== "tool/result")
      return violate(
        "tool-result-rewrite",
        "surfaceOp",
        `must replace a tool/result, but ${target} is ${node?.type ?? "unknown"}`,
      );
    if (!isSameJson(node.frame, frameOf(event.data)))
      violate(
        "tool-result-rewrite",
        "data",
        `changes more of event ${target} than its content`,
      );
  }
}

const WHAT_IS_WRONG = {
  "replace-start-not-in-surface": "the start is not on the surface",
  "replace-end-not-in-surface": "the end is not on the surface",
  "replace-range-reversed": "the start stands behind the end",
} as const;

/** What a check keeps of an event on the surface. */
export function nodeOf(event: Pick<RuleEvent, "type" | "data">): SurfaceNode {
  return {
    type: event.type,
    frame: event.type === "tool/result" ? frameOf(event.data) : null,
  };
}

/** Everything of a tool result but the content of its block. */
function frameOf(data: JsonValue): JsonValue {
  if (!isJsonObject(data) || !isJsonObject(data["message"])) return data;
  const { content } = data["message"];
  const blocks =
    content !== undefined && isJsonArray(content)
      ? content.map(withoutContent)
      : null;
  return { ...data, message: { ...data["message"], content: blocks } };
}

function withoutContent(block: JsonValue): JsonValue {
  if (!isJsonObject(block)) return block;
  const { content: _content, ...rest }: JsonObject = block;
  return rest;
}
