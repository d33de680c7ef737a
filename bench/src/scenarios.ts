/** Every scenario, in the order of the report. */
import type { Scenario } from "./scenario.ts";
import { appendScenarios } from "./scenarios/appends.ts";
import { contended } from "./scenarios/contended.ts";
import { importScenario } from "./scenarios/import.ts";
import { layouts } from "./scenarios/layouts.ts";
import { poolSizes } from "./scenarios/pool-sizes.ts";
import { read } from "./scenarios/read.ts";
import { rebuildScenarios } from "./scenarios/rebuild.ts";
import { scale } from "./scenarios/scale.ts";
import { stream } from "./scenarios/stream.ts";
import { transport } from "./scenarios/transport.ts";
import { upkeep } from "./scenarios/upkeep.ts";
import { visibleScenarios } from "./scenarios/visible.ts";

export const scenarios: readonly Scenario[] = [
  ...appendScenarios,
  contended,
  stream,
  importScenario,
  read,
  ...visibleScenarios,
  ...rebuildScenarios,
  scale,
  ...layouts,
  poolSizes,
  transport,
  upkeep,
];
