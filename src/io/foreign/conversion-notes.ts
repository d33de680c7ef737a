/** What a conversion could not express, counted by kind so that the list stays short. */

export interface ConversionNote {
  /** First line it is about, from 1; null when it is about the whole file. */
  readonly line: number | null;
  /** The kind of thing, in words that follow a number: "lines of type progress". */
  readonly what: string;
  readonly count: number;
}

export class ConversionNotes {
  readonly #notes = new Map<string, ConversionNote>();

  add(line: number | null, what: string, count = 1): void {
    const known = this.#notes.get(what);
    this.#notes.set(what, {
      line: known === undefined ? line : known.line,
      what,
      count: (known?.count ?? 0) + count,
    });
  }

  /** In the order in which the kinds were first met. */
  list(): readonly ConversionNote[] {
    return [...this.#notes.values()];
  }
}
