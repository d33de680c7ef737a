/** How a rebuild gets on: a bar on a terminal, a line a second elsewhere, a JSON object a second where JSON is asked for. */
import type { Builds } from "../builds/operator.ts";
import type { RebuildProgress } from "../builds/list-builds.ts";

const TERMINAL_MS = 200;
const LINES_MS = 1_000;
const BAR_WIDTH = 24;

/** Shows the rebuilds that have one of the projections until `work` ends, and returns what it returns. */
export async function withProgress<T>(
  builds: Builds,
  names: readonly string[],
  isJson: boolean,
  work: Promise<T>,
): Promise<T> {
  const isTerminal = process.stderr.isTTY && !isJson;
  const meter = new Meter();
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const found = await builds.progress().catch(() => []);
    isLooking = false;
    for (const progress of found) {
      if (!progress.builds.some(({ projection }) => names.includes(projection)))
        continue;
      const line = isJson
        ? JSON.stringify({ ...progress, ...meter.look(progress) })
        : progressLine(progress, meter.look(progress), isTerminal);
      process.stderr.write(isTerminal ? `\r\x1b[2K${line}` : `${line}\n`);
    }
  };
  const timer = setInterval(
    () => void look(),
    isTerminal ? TERMINAL_MS : LINES_MS,
  );
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (isTerminal) process.stderr.write("\r\x1b[2K");
  }
}

interface Pace {
  /** Null before there is anything to tell from. */
  readonly eventsPerSecond: number | null;
  readonly etaSeconds: number | null;
}

/** The rate is that of the time since it was first looked at: a rebuild that goes on did not do all of it now. */
class Meter {
  #first: { readonly at: number; readonly events: number } | null = null;

  look({ doneEvents, events, step }: RebuildProgress): Pace {
    const now = performance.now();
    this.#first ??= { at: now, events: doneEvents };
    const seconds = (now - this.#first.at) / 1_000;
    const done = doneEvents - this.#first.events;
    if (step !== "replaying" || seconds === 0 || done <= 0)
      return { eventsPerSecond: null, etaSeconds: null };
    const rate = done / seconds;
    return {
      eventsPerSecond: Math.round(rate),
      etaSeconds: Math.ceil((events - doneEvents) / rate),
    };
  }
}

function progressLine(
  progress: RebuildProgress,
  pace: Pace,
  hasBar: boolean,
): string {
  const { events, doneEvents, step, trouble } = progress;
  const names = progress.builds
    .map(({ projection, build }) => `${projection} b${build}`)
    .join(", ");
  const share = events === 0 ? 1 : doneEvents / events;
  const filled = Math.round(share * BAR_WIDTH);
  const parts = [
    names,
    ...(hasBar
      ? [`[${"#".repeat(filled)}${".".repeat(BAR_WIDTH - filled)}]`]
      : []),
    ...(step === "replaying"
      ? [
          `${Math.floor(share * 100)} %`,
          `${short(doneEvents)}/${short(events)} events`,
        ]
      : [step]),
    ...(pace.eventsPerSecond === null
      ? []
      : [`${short(pace.eventsPerSecond)}/s`, `eta ${pace.etaSeconds} s`]),
    ...(trouble === null ? [] : [trouble]),
  ];
  return parts.join("  ");
}

/** `1.8 M`, `310 k`. */
function short(count: number): string {
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)} M`;
  return count >= 1e4 ? `${Math.round(count / 1e3)} k` : String(count);
}
