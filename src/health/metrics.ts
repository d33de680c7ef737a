/** The flow of the pipeline as Prometheus metrics; made anew for each scrape, so that nothing of the past is shown. */
import { Gauge, Registry } from "prom-client";
import type { PipelineFlow } from "../query/status.ts";

/** What one look at the world has found; the flow is null when the database did not answer. */
export interface Look {
  readonly flow: PipelineFlow | null;
  /** Null where no Redis is set. */
  readonly redis: {
    readonly isReachable: boolean;
    readonly reason: string | null;
  } | null;
}

/** Text in the exposition format. */
export function metricsOf({ flow, redis }: Look): Promise<string> {
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number): void =>
    new Gauge({ name, help, registers: [registry] }).set(value);
  gauge(
    "turnlog_database_up",
    "1 when the database answered this scrape; without it there are no other figures of the pipeline",
    flow === null ? 0 : 1,
  );
  if (redis !== null)
    gauge(
      "turnlog_redis_up",
      "1 when Redis answered this scrape",
      redis.isReachable ? 1 : 0,
    );
  if (flow !== null) addFlow(registry, gauge, flow);
  return registry.metrics();
}

function addFlow(
  registry: Registry,
  gauge: (name: string, help: string, value: number) => void,
  { outbox, relay, work, projections }: PipelineFlow,
): void {
  gauge(
    "turnlog_outbox_appends",
    "Appends that no relay has taken",
    outbox.appends,
  );
  gauge(
    "turnlog_outbox_oldest_seconds",
    "How long the oldest of them has waited",
    seconds(outbox.oldestMs),
  );
  gauge(
    "turnlog_relay_leads",
    "1 while a relay's lease lasts",
    relay.isAlive ? 1 : 0,
  );
  gauge(
    "turnlog_relay_lease_seconds",
    "How long the lease lasts; negative: since when it is over",
    seconds(relay.leaseMs),
  );
  gauge(
    "turnlog_feed_position",
    "Position of the newest append in the feed",
    Number(relay.lastPosition),
  );
  gauge("turnlog_work_sessions", "Sessions on the work list", work.sessions);
  gauge(
    "turnlog_work_oldest_seconds",
    "How long the oldest of them has waited to be folded",
    seconds(work.oldestMs),
  );
  const labelNames = ["projection", "version", "build", "status"] as const;
  for (const [name, help, value] of OF_A_BUILD) {
    const each = new Gauge({ name, help, labelNames, registers: [registry] });
    for (const one of projections) {
      const { projection, version, build, status } = one;
      each.set({ projection, version, build, status }, value(one));
    }
  }
}

type Flow = PipelineFlow["projections"][number];

const OF_A_BUILD: readonly (readonly [
  string,
  string,
  (flow: Flow) => number,
])[] = [
  [
    "turnlog_projection_sessions_behind",
    "Sessions with events that the build has not folded",
    (one) => one.sessionsBehind,
  ],
  [
    "turnlog_projection_events_behind",
    "Events that the build has not folded",
    (one) => one.eventsBehind,
  ],
  [
    "turnlog_projection_lag_seconds",
    "How long the oldest of these events has waited",
    (one) => seconds(one.lagMs),
  ],
  [
    "turnlog_projection_failing_sessions",
    "Sessions whose fold failed and is tried again",
    (one) => one.failing,
  ],
  [
    "turnlog_projection_parked_sessions",
    "Sessions whose fold has been given up",
    (one) => one.parked,
  ],
];

function seconds(ms: number | null): number {
  return (ms ?? 0) / 1_000;
}
