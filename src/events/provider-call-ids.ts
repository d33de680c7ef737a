/** Ids of tool calls that are unique in a request, however often the model gave the same one. */

export interface CallIds {
  /** An id that was not given before: the same one, or with the number of its occurrence behind it. */
  unique(id: string): string;
}

/** Each id depends on the ones before it alone, so that more messages change none that was given. */
export function createCallIds(): CallIds {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return {
    unique(given) {
      const id = given === "" ? "call" : given;
      let count = counts.get(id) ?? 1;
      let unique = count === 1 ? id : `${id}-${count}`;
      while (taken.has(unique)) {
        count += 1;
        unique = `${id}-${count}`;
      }
      counts.set(id, count + 1);
      taken.add(unique);
      return unique;
    },
  };
}
