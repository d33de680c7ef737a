/**
 * Provenance lists as text: `{4-95,97}`. A list can name tens of thousands of seqs that mostly follow one another,
 * so ascending neighbours become one run. Order is kept; `{}` is an empty list, which is not the same as none.
 */

/** Encodes a list of distinct seqs in its own order. */
export function encodeSourceSeqs(seqs: readonly number[]): string {
  const runs: string[] = [];
  let first = seqs[0];
  let last = first;
  for (const seq of seqs.slice(1)) {
    if (last !== undefined && seq === last + 1) {
      last = seq;
      continue;
    }
    runs.push(run(first, last));
    first = seq;
    last = seq;
  }
  if (first !== undefined) runs.push(run(first, last));
  return `{${runs.join(",")}}`;
}

/** Decodes what `encodeSourceSeqs` wrote. */
export function decodeSourceSeqs(text: string): readonly number[] {
  const seqs: number[] = [];
  const inner = text.slice(1, -1);
  if (inner === "") return seqs;
  for (const part of inner.split(",")) {
    const [first = "", last = first] = part.split("-");
    for (let seq = Number(first); seq <= Number(last); seq += 1) seqs.push(seq);
  }
  return seqs;
}

function run(first: number | undefined, last: number | undefined): string {
  return first === last ? `${first}` : `${first}-${last}`;
}
