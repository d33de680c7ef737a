/** Every scenario, in the order of the report. */
import type { Scenario } from "./scenario.ts";
import { appendScenarios } from "./scenarios/appends.ts";

export const scenarios: readonly Scenario[] = [...appendScenarios];
