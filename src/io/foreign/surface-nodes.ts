/** The surface of a log that is being built, as far as a compaction has to know it. */
import { estimateTokens } from "./estimate-tokens.ts";
import { idsOf, type Block } from "./blocks.ts";

interface Node {
  readonly seq: number;
  readonly isCheckpoint: boolean;
  readonly tokens: number;
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

/** What a checkpoint takes the place of. */
export interface Shadowed {
  /** In the order of the surface, at least one. */
  readonly seqs: readonly [number, ...number[]];
  readonly tokens: number;
}

export class SurfaceNodes {
  #nodes: Node[] = [];
  /** First event that the last compaction kept. */
  #keptFrom = 0;

  /** @param place tells call ids of different steps apart */
  append(seq: number, content: readonly Block[], place: string): void {
    const qualified = (id: string): string => `${place} ${id}`;
    this.#nodes.push({
      seq,
      isCheckpoint: false,
      tokens: estimateTokens(content),
      calls: idsOf(content, "tool-call").map(qualified),
      results: idsOf(content, "tool-result").map(qualified),
    });
  }

  /**
   * What stands before the first event that is kept. Null where a checkpoint can't say it: nothing stands there, it
   * would part a call from its result, or an event is kept again that an earlier compaction had hidden.
   * @param keptFrom seq of the first event that is kept
   */
  before(keptFrom: number): Shadowed | null {
    if (keptFrom < this.#keptFrom) return null;
    const first = this.#firstKept(keptFrom);
    const hidden = this.#nodes.slice(0, first);
    const calls = new Set(hidden.flatMap((node) => node.calls));
    const isParted = this.#nodes
      .slice(first)
      .some(({ results }) => results.some((id) => calls.has(id)));
    const [start, ...more] = hidden.map(({ seq }) => seq);
    if (start === undefined || isParted) return null;
    const tokens = hidden.reduce((sum, node) => sum + node.tokens, 0);
    return { seqs: [start, ...more], tokens };
  }

  /** A checkpoint takes the place of what `before` gave. */
  replace(keptFrom: number, seq: number, content: readonly Block[]): void {
    const checkpoint: Node = {
      seq,
      isCheckpoint: true,
      tokens: estimateTokens(content),
      calls: [],
      results: [],
    };
    this.#nodes = [checkpoint, ...this.#nodes.slice(this.#firstKept(keptFrom))];
    this.#keptFrom = keptFrom;
  }

  #firstKept(keptFrom: number): number {
    const at = this.#nodes.findIndex(
      (node) => !node.isCheckpoint && node.seq >= keptFrom,
    );
    return at === -1 ? this.#nodes.length : at;
  }
}
