/** The rules' state of sessions this process has appended to, so that the next append need not read it. */
import type { RulesState } from "../events/rules/rules.ts";

/** State at a head: what the next append at exactly that seq is checked against. */
export interface StateAt {
  readonly head: number;
  readonly incarnation: string;
  readonly state: RulesState;
}

/** Sessions that are remembered, at about 1 kB each; the one appended to longest ago goes first. */
const MAX_SESSIONS = 10_000;

export class StateCache {
  readonly #states = new Map<string, StateAt>();

  get(sessionId: string): StateAt | undefined {
    return this.#states.get(sessionId);
  }

  set(sessionId: string, state: StateAt): void {
    this.#states.delete(sessionId);
    this.#states.set(sessionId, state);
    if (this.#states.size <= MAX_SESSIONS) return;
    const [oldest] = this.#states.keys();
    if (oldest !== undefined) this.#states.delete(oldest);
  }

  forget(sessionId: string): void {
    this.#states.delete(sessionId);
  }
}
