/** What a scenario is, and what it gets to work with. */
import type { Figure } from "./result.ts";
import type { BenchServer } from "./server.ts";

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** True when it takes longer than three minutes, and runs only when it is named. */
  readonly long?: true;
  readonly run: (bench: Bench) => Promise<readonly Figure[]>;
}

export interface Bench {
  readonly server: BenchServer;
  readonly quick: boolean;
  readonly rounds: number;
  /** How long a contender is measured in a round, in ms. */
  readonly windowMs: number;
  /** Says what goes on. */
  readonly say: (line: string) => void;
  /** Notes what casts doubt on the figures. */
  readonly warn: (line: string) => void;
}
