/** Opens and closes the turns and steps of a log that is being written. */
import type { JsonObject } from "../../events/json.ts";
import type { EventList } from "./event-list.ts";

/** Turn and step that an event names. */
export type StepPlace = JsonObject & {
  readonly turn: number;
  readonly step: number;
};

export class TurnBrackets {
  readonly #list: EventList;
  #turn = 0;
  #step = 0;
  #isTurnOpen = false;
  #isStepOpen = false;

  constructor(list: EventList) {
    this.#list = list;
  }

  /** Null between turns. */
  get turn(): number | null {
    return this.#isTurnOpen ? this.#turn : null;
  }

  /** The open step, opened now if there is none. */
  step(): StepPlace {
    if (!this.#isTurnOpen) {
      this.#turn += 1;
      this.#step = 0;
      this.#isTurnOpen = true;
      this.#list.append("turn/start", { turn: this.#turn });
    }
    if (!this.#isStepOpen) {
      this.#step += 1;
      this.#isStepOpen = true;
      this.#list.append("step/start", this.#place());
    }
    return this.#place();
  }

  endStep(): void {
    if (!this.#isStepOpen) return;
    this.#isStepOpen = false;
    this.#list.appendUntold("step/end", this.#place());
  }

  /** @param isTold whether the transcript says itself that the turn is over */
  endTurn(reason: JsonObject, isTold: boolean): void {
    if (!this.#isTurnOpen) return;
    this.endStep();
    this.#isTurnOpen = false;
    const data = { turn: this.#turn, reason };
    if (isTold) this.#list.append("turn/end", data);
    else this.#list.appendUntold("turn/end", data);
  }

  #place(): StepPlace {
    return { turn: this.#turn, step: this.#step };
  }
}
