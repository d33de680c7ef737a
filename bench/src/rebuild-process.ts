/** Rebuilds every projection of a database, and prints how long that took and how much memory. */
import { openBuilds } from "../../src/builds/operator.ts";

const LOOK_MS = 10;

const [databaseUrl = ""] = process.argv.slice(2);
await using builds = await openBuilds({ databaseUrl });
let peakMiB = 0;
let replaySeconds = 0;
const beganAt = performance.now();
const memory = setInterval(() => {
  peakMiB = Math.max(peakMiB, process.memoryUsage().rss / 2 ** 20);
}, LOOK_MS);
const steps = setInterval(() => {
  void builds.progress().then(([progress]) => {
    if (progress?.step === "replaying")
      replaySeconds = (performance.now() - beganAt) / 1_000;
  });
}, LOOK_MS * 5);
await builds.rebuild(builds.names);
clearInterval(steps);
clearInterval(memory);
const seconds = (performance.now() - beganAt) / 1_000;
process.stdout.write(
  JSON.stringify({
    seconds,
    replaySeconds: replaySeconds === 0 ? seconds : replaySeconds,
    peakMiB,
  }),
);
