/** Data of asides, right and wrong. */

export const DESCRIPTORS = [
  { version: 2, mode: "one-shot", provider: "p" },
  { version: 2, mode: "continuable", provider: "p" },
  { version: 1 },
  null,
];

const GOAL = {
  id: "g",
  revision: 1,
  objective: "x",
  phase: "active",
  maxGoalRounds: 1,
};
const CHANGE = {
  kind: "goal/change",
  version: 1,
  operation: "create",
  goal: GOAL,
  roundsStarted: 0,
  createdAt: 1,
  updatedAt: 1,
};
export const GOALS: readonly unknown[] = [
  CHANGE,
  { ...CHANGE, operation: "edit", goal: { ...GOAL, revision: 2 } },
  { ...CHANGE, goal: { ...GOAL, phase: "blocked" } },
  { ...CHANGE, extra: 1 },
  { ...CHANGE, updatedAt: 0 },
  {
    kind: "goal/change",
    version: 1,
    operation: "clear",
    clearedAt: 1,
    cleared: { id: "g", revision: 2 },
  },
  null,
];

export const SPLICES: readonly unknown[] = [
  queued("next-turn"),
  { target: "next-turn", start: 9, inserted: [] },
  { target: "next-step", start: 0, removedCount: 1, inserted: [] },
  { target: "next-turn", start: 0, inserted: [{}] },
  { target: "later", start: 0, inserted: [] },
  { target: "next-turn", start: 0 },
];

export function titles(seq: number): readonly unknown[] {
  const title = "x";
  return [
    { title, messageSeqs: [], source: { kind: "user" } },
    { title, messageSeqs: [0], source: { kind: "user" } },
    { title, messageSeqs: [], source: { kind: "fallback" } },
    { title: "", messageSeqs: [], source: { kind: "user" } },
    { title, messageSeqs: [seq + 1], source: { kind: "fallback" } },
    { title, messageSeqs: [0], source: { kind: "guess" } },
  ];
}
export function queued(target: string): object {
  const inserted = [input(null)];
  return { target, start: 0, inserted };
}

export function input(compactionId: string | null): object {
  const source =
    compactionId === null
      ? { kind: "user" }
      : { kind: "plugin", plugin: "compact", compactionId };
  return { id: "m-put-in", role: "user", content: [], source };
}

export function round(number: number): object {
  const source = { kind: "goal", goalId: "g", revision: 1, round: number };
  return { id: "m-round", role: "user", content: [], source };
}
