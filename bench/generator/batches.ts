/** Cuts a log into the batches of its appends. */

/** Yields the items in order, `size` at a time; the last batch may be shorter. */
export function* batchesOf<T>(
  items: Iterable<T>,
  size: number,
): Generator<readonly T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
