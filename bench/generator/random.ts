/** Chance from a seed: the same seed gives the same numbers on every machine. */

export interface Random {
  /** An integer from 0 to 2^32 - 1. */
  bits(): number;
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number;
  /** An integer, both ends included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** A positive integer of a log-normal distribution, at most `most`. */
  logNormal(median: number, sigma: number, most: number): number;
  /** A UUID of version 4. */
  uuid(): string;
  /** Another source, which goes on apart from this one. */
  fork(): Random;
}

/** @param seed any integer; bits beyond the lowest 32 are ignored */
export function createRandom(seed: number): Random {
  const bits = sfc32(seed);
  const unit = (): number => (bits() + 0.5) / 2 ** 32;
  const below = (limit: number): number => Math.floor(unit() * limit);
  return {
    bits,
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => unit() < probability,
    pick: (items) => items[below(items.length)] ?? items[0],
    logNormal(median, sigma, most) {
      const normal =
        Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
      const value = Math.round(median * Math.exp(sigma * normal));
      return Math.min(Math.max(value, 1), most);
    },
    uuid: () => uuidOf(bits(), bits(), bits(), bits()),
    fork: () => createRandom(bits()),
  };
}

/** The sfc32 generator: small, fast, and well distributed. */
function sfc32(seed: number): () => number {
  let [a, b, c, counter] = [seed | 0, 0x9e3779b9 | 0, 0x243f6a88 | 0, 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  // The first numbers still show the seed.
  for (let round = 0; round < 15; round += 1) next();
  return next;
}

function uuidOf(a: number, b: number, c: number, d: number): string {
  const hex = [a, (b & 0xffff0fff) | 0x4000, (c & 0x3fffffff) | 0x80000000, d]
    .map((word) => (word >>> 0).toString(16).padStart(8, "0"))
    .join("");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}
