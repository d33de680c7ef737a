import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson, type JsonValue } from "../../src/events/json.ts";
import {
  appendNode,
  EMPTY_SURFACE,
  parseSurfaceOp,
  placeOf,
  replaceNodes,
  shadowedNodes,
  type Surface,
} from "../../src/events/surface.ts";
import { runs } from "../support/property-runs.ts";

describe("parseSurfaceOp", () => {
  it.each<[JsonValue]>([
    ["append"],
    [{ op: "replace", start: 0, end: 0 }],
    [{ op: "replace", start: 20, end: 12 }],
    [{ end: 12, start: 2, op: "replace" }],
    [{ op: "replace", start: 0, end: Number.MAX_SAFE_INTEGER }],
  ])("reads %j", (value) => {
    expect(parseSurfaceOp(value)).toEqual(value);
  });

  it.each<[JsonValue | undefined]>([
    [undefined],
    [null],
    [true],
    [5],
    [""],
    ["Append"],
    ["replace"],
    [["append"]],
    [{}],
    [{ op: "append" }],
    [{ op: "append", start: 0, end: 0 }],
    [{ op: "replace", start: 0 }],
    [{ op: "replace", end: 0 }],
    [{ start: 0, end: 0 }],
    [{ op: "replace", start: 0, end: 0, reason: "x" }],
    [{ op: "replace", start: 0, stop: 0 }],
    [{ op: "replace", start: -1, end: 0 }],
    [{ op: "replace", start: 0, end: 0.5 }],
    [{ op: "replace", start: 0, end: 2 ** 53 }],
    [{ op: "replace", start: "0", end: 0 }],
    [{ op: "replace", start: null, end: 0 }],
  ])("is null for %j", (value) => {
    expect(parseSurfaceOp(value)).toBeNull();
  });
});

describe("replacements in an order that is not numeric (A3)", () => {
  const start = surfaceOf(2, 7, 12);
  const r1 = replace(start, 2, 7, 20);
  const r2 = replace(r1, 20, 12, 25);

  it("puts the first replacement before the last node", () => {
    expect(start.seqs).toEqual([2, 7, 12]);
    expect(r1.seqs).toEqual([20, 12]);
  });

  it("accepts a range that starts at a larger seq than it ends", () => {
    expect(shadowedNodes(r1, { start: 20, end: 12 })).toEqual([20, 12]);
    expect(r2.seqs).toEqual([25]);
  });

  it("does not find a node that was shadowed", () => {
    expect(shadowedNodes(r2, { start: 12, end: 25 })).toBe(
      "replace-start-not-in-surface",
    );
  });

  it("gives each replacement the place of the first node that stood there", () => {
    expect([placeOf(r1, 20), placeOf(r1, 12)]).toEqual([2, 12]);
    expect(placeOf(r2, 25)).toBe(2);
  });
});

describe("shadowedNodes", () => {
  const surface = replace(surfaceOf(1, 3, 5, 7), 3, 5, 9);

  it("names the nodes of a range by position, both ends included", () => {
    expect(shadowedNodes(surface, { start: 1, end: 7 })).toEqual([1, 9, 7]);
    expect(shadowedNodes(surface, { start: 9, end: 7 })).toEqual([9, 7]);
  });

  it("names one node when the range starts where it ends", () => {
    expect(shadowedNodes(surface, { start: 9, end: 9 })).toEqual([9]);
  });

  it.each([
    ["replace-start-not-in-surface", "was shadowed", 3, 7],
    ["replace-start-not-in-surface", "never stood there", 2, 7],
    ["replace-end-not-in-surface", "was shadowed", 1, 5],
    ["replace-end-not-in-surface", "is yet to come", 1, 10],
    ["replace-start-not-in-surface", "is as absent as the end", 3, 5],
    ["replace-range-reversed", "is after the end by position", 7, 9],
    ["replace-range-reversed", "is after the end by number too", 7, 1],
  ])("is %s when that node %s", (problem, _what, start, end) => {
    expect(shadowedNodes(surface, { start, end })).toBe(problem);
  });

  it("finds nothing on the empty surface", () => {
    expect(shadowedNodes(EMPTY_SURFACE, { start: 0, end: 0 })).toBe(
      "replace-start-not-in-surface",
    );
  });
});

describe("the surface", () => {
  it("is not changed by what is derived from it", () => {
    const surface = replace(surfaceOf(1, 3, 5), 1, 3, 6);
    const text = JSON.stringify(surface);

    appendNode(surface, 8);
    replaceNodes(surface, [6, 5], 8);

    expect(JSON.stringify(surface)).toBe(text);
    expect(EMPTY_SURFACE).toEqual({ seqs: [], places: {} });
  });

  it("remembers no place of a node that is gone", () => {
    const twice = replace(replace(surfaceOf(1, 3, 5), 1, 3, 6), 6, 5, 7);

    expect(twice.places).toEqual({ 7: 1 });
  });

  it("follows a list with splices, whatever is appended and replaced", () => {
    fc.assert(
      fc.property(anyMoves, (moves) => {
        let surface: Surface = EMPTY_SURFACE;
        const model = new ListModel();
        for (const [seq, move] of moves.entries()) {
          expect(outcomeOf(surface, move)).toEqual(model.outcomeOf(move));
          surface = applied(surface, move, seq);
          model.apply(move, seq);

          expect(surface.seqs).toEqual(model.seqs);
          expect(surface.seqs.map((node) => placeOf(surface, node))).toEqual(
            model.places,
          );
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it("has ascending places in surface order, none of them twice", () => {
    fc.assert(
      fc.property(anyMoves, (moves) => {
        const surface = afterAll(moves);
        const places = surface.seqs.map((seq) => placeOf(surface, seq));

        expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
      }),
      { numRuns: runs(200) },
    );
  });

  it("is the same after a way through JSON", () => {
    fc.assert(
      fc.property(anyMoves, (moves) => {
        const surface = afterAll(moves);

        expect(parseJson(JSON.stringify(surface))).toEqual(surface);
      }),
      { numRuns: runs(100) },
    );
  });
});

/** An append, or a replacement between two seqs that may be anything. */
type Move = "append" | { readonly start: number; readonly end: number };

const anyMoves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant<Move>("append") },
    {
      weight: 1,
      arbitrary: fc.record({
        start: fc.nat({ max: 30 }),
        end: fc.nat({ max: 30 }),
      }),
    },
  ),
  { maxLength: 40, size: "max" },
);

/** The surface as an ordinary list, which a replacement splices. */
class ListModel {
  #nodes: { readonly seq: number; readonly place: number }[] = [];

  get seqs(): number[] {
    return this.#nodes.map(({ seq }) => seq);
  }

  get places(): number[] {
    return this.#nodes.map(({ place }) => place);
  }

  outcomeOf(move: Move): unknown {
    if (move === "append") return "append";
    const [from, to] = this.#range(move);
    if (from === -1) return "replace-start-not-in-surface";
    if (to === -1) return "replace-end-not-in-surface";
    if (from > to) return "replace-range-reversed";
    return this.seqs.slice(from, to + 1);
  }

  apply(move: Move, seq: number): void {
    if (move === "append") this.#nodes.push({ seq, place: seq });
    else if (Array.isArray(this.outcomeOf(move))) {
      const [from, to] = this.#range(move);
      const place = this.#nodes[from]?.place ?? seq;
      this.#nodes.splice(from, to - from + 1, { seq, place });
    }
  }

  #range(move: { start: number; end: number }): [from: number, to: number] {
    return [this.seqs.indexOf(move.start), this.seqs.indexOf(move.end)];
  }
}

function outcomeOf(surface: Surface, move: Move): unknown {
  return move === "append" ? move : shadowedNodes(surface, move);
}

/** A move that can't be made changes nothing, as the event is refused. */
function applied(surface: Surface, move: Move, seq: number): Surface {
  if (move === "append") return appendNode(surface, seq);
  const shadowed = shadowedNodes(surface, move);
  return typeof shadowed === "string"
    ? surface
    : replaceNodes(surface, shadowed, seq);
}

function afterAll(moves: readonly Move[]): Surface {
  return moves.reduce(applied, EMPTY_SURFACE);
}

function surfaceOf(...seqs: readonly number[]): Surface {
  return seqs.reduce(appendNode, EMPTY_SURFACE);
}

function replace(
  surface: Surface,
  start: number,
  end: number,
  seq: number,
): Surface {
  return applied(surface, { start, end }, seq);
}
