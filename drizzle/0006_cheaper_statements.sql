-- The same functions with the same outcomes and locks, cheaper: an append of one row, and a sweep that finds nothing.

-- append_v1: most appends are one row, and to plan and sort for one costs more than to store it. All else is as it was.
create or replace function turnlog.append_v1(
  _session_id text, _append_id uuid, _append_digest bytea, _expected_seq bigint,
  _incarnation uuid, _epoch bigint, _hold_ms integer,
  _header text, _tenant text, _recreate boolean,
  _rules_version integer, _state text,
  _event_count integer, _facts_end integer,
  _counts text, _types text, _times text, _turns text, _steps text,
  _ignorables text, _surface_ops text, _source_event_seqs text, _key_orders text, _payloads text,
  out outcome text, out first_seq bigint, out next_seq bigint, out incarnation uuid, out epoch bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '5s'
as $$
declare
  _session turnlog.sessions;
  _stored record;
  _is_one_row boolean := strpos(_counts, E'\n') = 0;
  _counted bigint;
begin
  if _is_one_row then
    _counted := _counts::bigint;
  else
    select sum(c::integer) into _counted
    from unnest(string_to_array(_counts, E'\n')) c;
  end if;
  if _counted is distinct from _event_count then
    raise exception 'the rows hold % events, not %', _counted, _event_count using errcode = 'check_violation';
  end if;

  if _expected_seq = 0 then
    insert into turnlog.sessions as s
      (session_id, incarnation, head, facts_head, rules_version, state, header, tenant)
    values
      (_session_id, _incarnation, _event_count, _facts_end, _rules_version, _state, _header, _tenant)
    on conflict (session_id) do update
      set incarnation = excluded.incarnation, head = excluded.head, facts_head = excluded.facts_head,
          writer_epoch = s.writer_epoch + 1, writer_until = null,
          rules_version = excluded.rules_version, state = excluded.state, header = excluded.header,
          tenant = excluded.tenant, created_at = now(), deleted_at = null
      where _recreate and s.deleted_at is not null
    returning s.incarnation, s.writer_epoch into incarnation, epoch;
  else
    update turnlog.sessions s
    set head = s.head + _event_count,
        facts_head = case when _facts_end > 0 then s.head + _facts_end else s.facts_head end,
        writer_until = case when _epoch is null then s.writer_until
                            else greatest(s.writer_until, clock_timestamp() + make_interval(secs => _hold_ms / 1000.0)) end,
        rules_version = _rules_version,
        state = _state
    where s.session_id = _session_id
      and s.head = _expected_seq
      and s.deleted_at is null
      and (_incarnation is null or s.incarnation = _incarnation)
      and (_epoch is null or s.writer_epoch = _epoch)
      and s.rules_version <= _rules_version
    returning s.incarnation, s.writer_epoch into incarnation, epoch;
  end if;

  if found then
    if _is_one_row then
      insert into turnlog.events
        (session_id, seq, event_count, type, time_ms, turn, step, ignorable, surface_op, source_event_seqs, key_order, payload,
         append_id, append_digest, append_events)
      values
        (_session_id, _expected_seq, _event_count, _types, _times::bigint, nullif(_turns, '')::bigint, nullif(_steps, '')::bigint,
         _ignorables <> '', nullif(_surface_ops, ''), nullif(_source_event_seqs, ''), nullif(_key_orders, ''), _payloads,
         _append_id, _append_digest, _event_count);
    else
      insert into turnlog.events
        (session_id, seq, event_count, type, time_ms, turn, step, ignorable, surface_op, source_event_seqs, key_order, payload,
         append_id, append_digest, append_events)
      select _session_id, _expected_seq + sum(r.event_count::integer) over (order by r.n) - r.event_count::integer, r.event_count::integer, r.type, r.time_ms::bigint,
             r.turn::bigint, r.step::bigint, r.ignorable is not null, r.surface_op, r.sources, r.key_order, r.payload,
             case when r.n = 1 then _append_id end,
             case when r.n = 1 then _append_digest end,
             case when r.n = 1 then _event_count end
      from unnest(
        string_to_array(_counts, E'\n'), string_to_array(_types, E'\n'),
        string_to_array(_times, E'\n'), string_to_array(_turns, E'\n', ''), string_to_array(_steps, E'\n', ''),
        string_to_array(_ignorables, E'\n', ''), string_to_array(_surface_ops, E'\n', ''),
        string_to_array(_source_event_seqs, E'\n', ''), string_to_array(_key_orders, E'\n', ''),
        string_to_array(_payloads, E'\n'))
        with ordinality as r (event_count, type, time_ms, turn, step, ignorable, surface_op, sources, key_order, payload, n);
    end if;

    insert into turnlog.outbox (session_id, first_seq, next_seq, facts_next_seq, incarnation)
    values (_session_id, _expected_seq, _expected_seq + _event_count,
            case when _facts_end > 0 then _expected_seq + _facts_end end, append_v1.incarnation);

    outcome := 'appended';
    first_seq := _expected_seq;
    next_seq := _expected_seq + _event_count;
    return;
  end if;

  select e.seq, e.append_events, e.append_digest into _stored
  from turnlog.events e
  where e.session_id = _session_id and e.append_id = _append_id;
  if found then
    outcome := case when _stored.append_digest = _append_digest then 'duplicate' else 'reused' end;
    first_seq := _stored.seq;
    next_seq := _stored.seq + _stored.append_events;
  end if;

  select s.* into _session from turnlog.sessions s where s.session_id = _session_id;
  incarnation := _session.incarnation;
  epoch := _session.writer_epoch;
  if outcome is not null then
    return;
  end if;

  next_seq := coalesce(_session.head, 0);
  outcome := case
    when _session.session_id is null then 'missing'
    when _session.deleted_at is not null then 'deleted'
    when _expected_seq > 0 and _incarnation <> _session.incarnation then 'incarnation'
    when _epoch <> _session.writer_epoch then 'fenced'
    when _session.rules_version > _rules_version then 'rules'
    else 'conflict' end;
end $$;
--> statement-breakpoint
-- sweep_v1: the time is taken once, since a clock that moves while it runs can't be looked up in an index.
create or replace function turnlog.sweep_v1(_limit integer) returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  _now timestamptz := clock_timestamp();
begin
  insert into turnlog.work (session_id, next_seq, ring_at, claimed_until)
  select due.session_id, s.facts_head, _now, _now
  from (
    select distinct d.session_id
    from (
      select c.session_id
      from turnlog.checkpoints c
      where c.next_at <= _now
      order by c.next_at
      limit _limit
      for update skip locked
    ) d
  ) due
  join turnlog.sessions s on s.session_id = due.session_id
  order by due.session_id
  on conflict (session_id) do nothing;

  return query
  update turnlog.work w
  set ring_at = clock_timestamp() + make_interval(secs => 2 ^ least(w.rings + 1, 6)), rings = w.rings + 1
  where w.session_id in (
      select o.session_id
      from turnlog.work o
      where o.ring_at <= _now
      order by o.ring_at
      limit _limit
      for update skip locked)
    and w.ring_at <= _now
  returning w.session_id;
end $$;
