/** Read views over the log and the control tables, which belong to no projection. */
import { asTimestamp } from "../projections/columns.ts";
import type { ReadView } from "../projector/projection.ts";

/**
 * NUL and lone surrogates can't be in jsonb; payloads have them as escapes, and no other escapes of surrogates. A
 * backslash before the escape that is itself escaped is not one.
 */
const DATA = String.raw`case
                 when position('\u' in payload) = 0 then payload::jsonb
                 else regexp_replace(payload, '(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})',
                                     '\1\\ufffd', 'g')::jsonb
               end`;

const EVENTS = `
        select session_id, seq, type, time_ms, ${asTimestamp("time_ms")} as time_at, turn, step,
               surface_op, source_event_seqs, ignorable, ${DATA} as data
        from turnlog.events
        where type not in ('text-chunks', 'reasoning-chunks', 'tool-call-chunks')
        union all
        select e.session_id, e.seq + d.place, 'assistant/chunk', d.time_ms, ${asTimestamp("d.time_ms")}, e.turn, e.step,
               null, null, false,
               jsonb_build_object('turn', e.data -> 'turn', 'step', e.data -> 'step', 'chunk',
                 case e.type
                   when 'tool-call-chunks' then
                     jsonb_build_object('type', 'tool-call-delta', 'index', e.data -> 'index', 'id', e.data -> 'id')
                     || case when e.data ? 'name' then jsonb_build_object('name', e.data -> 'name') else '{}' end
                     || jsonb_build_object('argumentsDelta', d.text)
                   else
                     jsonb_build_object('type', replace(e.type, 'chunks', 'delta'), 'index', e.data -> 'index',
                                        'text', d.text)
                 end)
        from (
          select session_id, seq, type, time_ms, turn, step, ${DATA} as data
          from turnlog.events
          where type in ('text-chunks', 'reasoning-chunks', 'tool-call-chunks')
        ) e
        cross join lateral (
          select t.ordinal - 1 as place, t.text,
                 (e.time_ms + coalesce(sum(g.gap::text::bigint) over (order by t.ordinal), 0))::bigint as time_ms
          from jsonb_array_elements(coalesce(e.data -> 'texts', e.data -> 'args')) with ordinality as t (text, ordinal)
          left join jsonb_array_elements(e.data -> 'dt') with ordinality as g (gap, ordinal)
            on g.ordinal = t.ordinal - 1
        ) d`;

/**
 * Sessions that a build may be behind at: few, so that a store of any size is answered from indexes. While a build is
 * being made that is every session, for which the planner would read whole tables at any time: hence one look-up each.
 */
const MAYBE_BEHIND = `select s.session_id, s.incarnation, s.redaction_generation, s.facts_head
          from (
            select session_id from turnlog.work
            union
            select session_id from turnlog.outbox
            union
            select session_id from turnlog.checkpoints where next_at is not null
            union
            select session_id from turnlog.checkpoints where parked_at is not null
            union
            select session_id from turnlog.sessions
            where exists (select from turnlog.builds where status = 'building')
          ) m
          cross join lateral (
            select * from turnlog.sessions where session_id = m.session_id and deleted_at is null limit 1
          ) s`;

export const storeViews: readonly ReadView[] = [
  {
    name: "events",
    about:
      "The log: one row for each event, streamed deltas each by itself. Ask for one session at a time: it reads the log, and no index serves data.",
    columns: {
      session_id: "The session.",
      seq: "Position in the session, from 0 without gaps.",
      type: "Event type.",
      time_ms: "Time of the event, epoch ms; never an order.",
      time_at: "The same as timestamptz; null outside the years 1 to 9999.",
      turn: "Turn that the event names; null when it names none.",
      step: "Step that the event names; null when it names none.",
      surface_op:
        "append, or the JSON text of a replacement; null for what the model does not see.",
      source_event_seqs:
        "Seqs it was made from, as runs: {4-95,97}; {} is an empty list, null is none given.",
      ignorable: "True when readers that don't know the type may pass over it.",
      data: "Data of the event; U+FFFD where the log holds a NUL or a lone surrogate.",
    },
    select: () => EVENTS,
  },
  {
    name: "projection_status",
    about: "One row for each build of a projection: how far it is.",
    columns: {
      projection: "Name of the projection.",
      version: "Version of its fold and tables.",
      build: "Number of the build; its tables are in turnlog_b<number>.",
      status:
        "live: the read views show it; other words for builds that they don't.",
      sessions_behind: "Sessions with events that it has not folded.",
      events_behind: "Events that it has not folded.",
      oldest_unapplied_ms:
        "How long the session that is behind longest has waited, ms; null when neither outbox nor work list has one.",
      failing_sessions: "Sessions whose fold failed and is tried again.",
      parked_sessions: "Sessions whose fold has been given up.",
    },
    select: () => `
        select b.projection, b.version, b.number as build, b.status,
               count(*) filter (where a.next_seq < s.facts_head) as sessions_behind,
               coalesce(sum(s.facts_head - a.next_seq) filter (where a.next_seq < s.facts_head), 0)::bigint
                 as events_behind,
               (extract(epoch from clock_timestamp() - min(w.since) filter (where a.next_seq < s.facts_head))
                 * 1000)::bigint as oldest_unapplied_ms,
               count(c.next_at) as failing_sessions,
               count(c.parked_at) as parked_sessions
        from turnlog.builds b
        left join (
          ${MAYBE_BEHIND}
        ) s on true
        left join lateral (
          select * from turnlog.checkpoints where session_id = s.session_id and build = b.number limit 1
        ) c on true
        left join lateral (
          select least(
            (select since from turnlog.work where session_id = s.session_id),
            (select min(since) from turnlog.outbox where session_id = s.session_id)) as since
        ) w on true
        cross join lateral (
          select case when c.incarnation = s.incarnation and c.redaction_generation = s.redaction_generation
                      then c.next_seq else 0 end as next_seq
        ) a
        group by b.projection, b.version, b.number, b.status`,
  },
  {
    name: "parked",
    about:
      "One row for each session that a build could not fold: parked, or failing and tried again.",
    columns: {
      projection: "Name of the projection.",
      version: "Version of its fold and tables.",
      build: "Number of the build.",
      session_id: "The session, whose rows stand still before seq.",
      seq: "Event, or first event of a run, that could not be folded; null when not known.",
      error_code: "What went wrong, without any content of the session.",
      attempts: "Failures since the last success.",
      next_at: "When it is tried again; null when it is parked.",
      parked_at: "When it was given up; null while it is tried again.",
      failed_at: "When it failed first since the last success.",
    },
    select: () => `
        select b.projection, b.version, b.number as build, c.session_id, c.error_seq as seq, c.error_code, c.attempts,
               c.next_at, c.parked_at, c.failed_at
        from (
          select session_id, build, error_seq, error_code, attempts, next_at, parked_at, failed_at
          from turnlog.checkpoints
          where parked_at is not null
          union all
          select session_id, build, error_seq, error_code, attempts, next_at, parked_at, failed_at
          from turnlog.checkpoints
          where next_at is not null and parked_at is null
        ) c
        join turnlog.builds b on b.number = c.build`,
  },
];
