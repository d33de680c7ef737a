/**
 * The surface: the ordered list of events the model sees. An append adds at the end; a replacement puts one event
 * in the place of a range of current nodes. Order is by position, never by number: after a replacement a node may
 * stand before others with smaller seqs. Each node has a place number, the seq of the first node that ever stood
 * there, so that a replacement shifts nothing.
 */
import { isJsonObject, isSeq, type JsonValue } from "./json.ts";

/** Immutable; survives JSON. */
export interface Surface {
  /** Seqs of the nodes in surface order. */
  readonly seqs: readonly number[];
  /** Places of nodes that do not stand at their own seq, by seq. */
  readonly places: Readonly<Record<string, number>>;
}

export const EMPTY_SURFACE: Surface = { seqs: [], places: {} };

/** `append`, or a replacement of the nodes from start to end, both included. */
export type SurfaceOp =
  | "append"
  | { readonly op: "replace"; readonly start: number; readonly end: number };

/** Why a replacement can't be applied; the names are those of the rules in the error. */
export type SurfaceProblem =
  | "replace-start-not-in-surface"
  | "replace-end-not-in-surface"
  | "replace-range-reversed";

/** Reads a surface operation, or null when the value is none. */
export function parseSurfaceOp(value: JsonValue | undefined): SurfaceOp | null {
  if (value === "append") return value;
  if (
    !isJsonObject(value) ||
    Object.keys(value).length !== 3 ||
    value["op"] !== "replace"
  )
    return null;
  const { start, end } = value;
  if (!isSeq(start) || !isSeq(end)) return null;
  return { op: "replace", start, end };
}

/** Place of a current node. */
export function placeOf(surface: Surface, seq: number): number {
  return surface.places[seq] ?? seq;
}

/** Adds a node at the end. */
export function appendNode(surface: Surface, seq: number): Surface {
  return { ...surface, seqs: [...surface.seqs, seq] };
}

/** Current nodes from start to end, by position, or what is wrong with the range. */
export function shadowedNodes(
  surface: Surface,
  range: { readonly start: number; readonly end: number },
): readonly number[] | SurfaceProblem {
  const from = surface.seqs.indexOf(range.start);
  if (from === -1) return "replace-start-not-in-surface";
  const to = surface.seqs.indexOf(range.end);
  if (to === -1) return "replace-end-not-in-surface";
  return from <= to
    ? surface.seqs.slice(from, to + 1)
    : "replace-range-reversed";
}

/** Puts a node in the place of neighbouring ones. */
export function replaceNodes(
  surface: Surface,
  shadowed: readonly number[],
  seq: number,
): Surface {
  const [first = seq] = shadowed;
  const from = surface.seqs.indexOf(first);
  const gone = new Set(shadowed.map(String));
  const kept = Object.entries(surface.places).filter(
    ([node]) => !gone.has(node),
  );
  return {
    seqs: surface.seqs.toSpliced(from, shadowed.length, seq),
    places: { ...Object.fromEntries(kept), [seq]: placeOf(surface, first) },
  };
}

/** The order of the surface alone, changed in place: for whoever follows a long log and keeps nothing of it. */
export class SurfaceOrder {
  readonly #seqs: number[] = [];

  /** Seqs of the nodes in surface order. */
  get seqs(): readonly number[] {
    return this.#seqs;
  }

  append(seq: number): void {
    this.#seqs.push(seq);
  }

  /** Current nodes from start to end, or what is wrong with the range. */
  shadowedBy(range: {
    readonly start: number;
    readonly end: number;
  }): readonly number[] | SurfaceProblem {
    return shadowedNodes({ seqs: this.#seqs, places: {} }, range);
  }

  /** Puts a node in the place of neighbouring ones, as `shadowedBy` gave them. */
  replace(shadowed: readonly number[], seq: number): void {
    const [first = seq] = shadowed;
    this.#seqs.splice(this.#seqs.indexOf(first), shadowed.length, seq);
  }
}
