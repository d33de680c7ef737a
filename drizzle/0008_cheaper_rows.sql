-- The same functions with the same outcomes and locks, cheaper where an append, or a call, has many rows. Set-returning
-- functions in a select list give their rows one by one, side by side; in a from clause all rows are first put into a
-- store, and numbering them there sorts them, payloads and all.

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
  _row_counts integer[];
  _row_seqs bigint[];
  _counted bigint;
begin
  if _is_one_row then
    _counted := _counts::bigint;
  else
    _row_counts := string_to_array(_counts, E'\n')::integer[];
    select array_agg(_expected_seq + r.row_end - r.event_count order by r.n), sum(r.event_count)
    into _row_seqs, _counted
    from (
      select c.event_count, c.n, sum(c.event_count) over (order by c.n) as row_end
      from unnest(_row_counts) with ordinality as c (event_count, n)
    ) r;
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
      select _session_id, unnest(_row_seqs), unnest(_row_counts), unnest(string_to_array(_types, E'\n')),
             unnest(string_to_array(_times, E'\n')::bigint[]), unnest(string_to_array(_turns, E'\n', '')::bigint[]),
             unnest(string_to_array(_steps, E'\n', '')::bigint[]), unnest(string_to_array(_ignorables, E'\n')) <> '',
             unnest(string_to_array(_surface_ops, E'\n', '')), unnest(string_to_array(_source_event_seqs, E'\n', '')),
             unnest(string_to_array(_key_orders, E'\n', '')), unnest(string_to_array(_payloads, E'\n')),
             unnest(array[_append_id]), unnest(array[_append_digest]), unnest(array[_event_count]);
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
-- append_many_v1: the seqs of the rows are found in one walk over their counts, which also checks them. A chain, which is
-- stored as a whole, has one outbox row.
create or replace function turnlog.append_many_v1(
  _session_ids text[], _incarnations uuid[], _expected_seqs bigint[], _states text, _headers text, _tenants text[],
  _epochs bigint[], _hold_ms integer[], _rules_version integer,
  _chains integer[], _append_ids uuid[], _event_counts integer[], _facts_ends integer[], _digests bytea,
  _appends integer[],
  _counts text, _types text, _times text, _turns text, _steps text,
  _ignorables text, _surface_ops text, _source_event_seqs text, _key_orders text, _payloads text)
returns table (chain integer, outcome text, first_seq bigint, next_seq bigint, epoch bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  _next_seqs bigint[] := _expected_seqs;
  _facts_heads bigint[] := array_fill(null::bigint, array[cardinality(_session_ids)]);
  _first_seqs bigint[] := array_fill(null::bigint, array[cardinality(_chains)]);
  _is_stored boolean[] := array_fill(false, array[cardinality(_session_ids)]);
  _is_moved boolean[] := array_fill(false, array[cardinality(_session_ids)]);
  _row_counts integer[] := string_to_array(_counts, E'\n')::integer[];
  _row_seqs bigint[] := array_fill(null::bigint, array[cardinality(_appends)]);
  _row_chains integer[] := _appends;
  _found integer[];
  _chain integer;
  _append integer := 0;
  _seq bigint;
  _end bigint;
begin
  for _at in 1 .. cardinality(_chains) loop
    _chain := _chains[_at];
    _seq := _next_seqs[_chain];
    _first_seqs[_at] := _seq;
    _next_seqs[_chain] := _seq + _event_counts[_at];
    if _facts_ends[_at] > 0 then
      _facts_heads[_chain] := _seq + _facts_ends[_at];
    end if;
  end loop;

  -- The rows of an append fill it exactly, one behind the other.
  for _at in 1 .. cardinality(_appends) loop
    if _appends[_at] <> _append then
      if _seq <> _end then exit; end if;
      _append := _append + 1;
      _seq := _first_seqs[_append];
      _end := _seq + _event_counts[_append];
      _chain := _chains[_append];
    end if;
    exit when _appends[_at] <> _append or _row_counts[_at] < 1;
    _row_seqs[_at] := _seq;
    _row_chains[_at] := _chain;
    _seq := _seq + _row_counts[_at];
  end loop;
  if _append <> cardinality(_chains) or _seq <> _end or cardinality(_row_counts) <> cardinality(_appends) then
    raise exception 'the rows do not hold the events of their appends' using errcode = 'check_violation';
  end if;

  -- An append that is stored after this look has moved the head, and then its chain does not fit any more.
  select array_agg(a.chain) into _found
  from unnest(_chains, _append_ids) as a (chain, append_id)
  cross join lateral (
    select
    from turnlog.events e
    where e.session_id = _session_ids[a.chain] and e.append_id = a.append_id
    limit 1
  ) e;
  foreach _chain in array coalesce(_found, '{}') loop
    _is_stored[_chain] := true;
  end loop;

  with chains as materialized (
    select c.n::integer as n, c.session_id, c.incarnation, c.expected_seq, c.state, c.epoch, c.hold_ms
    from unnest(_session_ids, _incarnations, _expected_seqs, string_to_array(_states, E'\n'), _epochs, _hold_ms)
      with ordinality as c (session_id, incarnation, expected_seq, state, epoch, hold_ms, n)
    where c.expected_seq > 0 and not _is_stored[c.n]
    order by c.session_id
  ), locked as materialized (
    select c.n, c.session_id, c.state, c.epoch, c.hold_ms
    from chains c
    cross join lateral (
      select
      from turnlog.sessions s
      where s.session_id = c.session_id
        and s.head = c.expected_seq
        and s.deleted_at is null
        and s.incarnation = c.incarnation
        and (c.epoch is null or s.writer_epoch = c.epoch)
        and s.rules_version <= _rules_version
      for no key update skip locked
    ) s
  ), moved as (
    update turnlog.sessions s
    set head = _next_seqs[l.n],
        facts_head = coalesce(_facts_heads[l.n], s.facts_head),
        writer_until = case when l.epoch is null then s.writer_until
                            else greatest(s.writer_until, clock_timestamp() + make_interval(secs => l.hold_ms / 1000.0)) end,
        rules_version = _rules_version,
        state = l.state
    from locked l
    where s.session_id = l.session_id
    returning l.n
  )
  select array_agg(m.n) into _found
  from moved m;
  foreach _chain in array coalesce(_found, '{}') loop
    _is_moved[_chain] := true;
  end loop;

  if 0 = any (_expected_seqs) then
    with created as (
      insert into turnlog.sessions
        (session_id, incarnation, head, facts_head, rules_version, state, header, tenant)
      select c.session_id, c.incarnation, _next_seqs[c.n], coalesce(_facts_heads[c.n], 0), _rules_version, c.state, c.header, c.tenant
      from unnest(_session_ids, _incarnations, _expected_seqs, string_to_array(_states, E'\n'), string_to_array(_headers, E'\n'), _tenants)
        with ordinality as c (session_id, incarnation, expected_seq, state, header, tenant, n)
      where c.expected_seq = 0 and not _is_stored[c.n]
      order by c.session_id
      on conflict (session_id) do nothing
      returning incarnation
    )
    select array_agg(array_position(_incarnations, c.incarnation)) into _found
    from created c;
    foreach _chain in array coalesce(_found, '{}') loop
      _is_moved[_chain] := true;
    end loop;
  end if;

  insert into turnlog.events
    (session_id, seq, event_count, type, time_ms, turn, step, ignorable, surface_op, source_event_seqs, key_order, payload,
     append_id, append_digest, append_events)
  select _session_ids[r.chain], r.seq, r.event_count, r.type, r.time_ms, r.turn, r.step, r.ignorable <> '', r.surface_op, r.sources,
         r.key_order, r.payload,
         case when r.seq = _first_seqs[r.append] then _append_ids[r.append] end,
         case when r.seq = _first_seqs[r.append] then substring(_digests from 16 * r.append - 15 for 16) end,
         case when r.seq = _first_seqs[r.append] then _event_counts[r.append] end
  from (
    select unnest(_row_chains) as chain, unnest(_appends) as append, unnest(_row_seqs) as seq, unnest(_row_counts) as event_count,
           unnest(string_to_array(_types, E'\n')) as type, unnest(string_to_array(_times, E'\n')::bigint[]) as time_ms,
           unnest(string_to_array(_turns, E'\n', '')::bigint[]) as turn, unnest(string_to_array(_steps, E'\n', '')::bigint[]) as step,
           unnest(string_to_array(_ignorables, E'\n')) as ignorable, unnest(string_to_array(_surface_ops, E'\n', '')) as surface_op,
           unnest(string_to_array(_source_event_seqs, E'\n', '')) as sources,
           unnest(string_to_array(_key_orders, E'\n', '')) as key_order, unnest(string_to_array(_payloads, E'\n')) as payload
  ) r
  where _is_moved[r.chain];

  insert into turnlog.outbox (session_id, first_seq, next_seq, facts_next_seq, incarnation)
  select c.session_id, c.first_seq, c.next_seq, c.facts_head, c.incarnation
  from (
    select unnest(_session_ids) as session_id, unnest(_expected_seqs) as first_seq, unnest(_next_seqs) as next_seq,
           unnest(_facts_heads) as facts_head, unnest(_incarnations) as incarnation, unnest(_is_moved) as is_moved
  ) c
  where c.is_moved;

  return query
  select m.n::integer, 'appended', _expected_seqs[m.n], _next_seqs[m.n], null::bigint
  from unnest(_is_moved) with ordinality as m (is_moved, n)
  where m.is_moved;

  if false = any (_is_moved) then
    return query
    select c.n::integer,
           case
             when e.append_digest = substring(_digests from 16 * a.n - 15 for 16) then 'duplicate'
             when e.append_digest is not null then 'reused'
             when s.session_id is null then case when c.expected_seq = 0 then 'busy' else 'missing' end
             when s.deleted_at is not null then 'deleted'
             when c.expected_seq > 0 and s.incarnation <> c.incarnation then 'incarnation'
             when c.epoch <> s.writer_epoch then 'fenced'
             when s.rules_version > _rules_version then 'rules'
             when s.head <> c.expected_seq then 'conflict'
             when _is_stored[c.n] then 'repeated'
             else 'busy'
           end,
           coalesce(e.seq, c.expected_seq), coalesce(e.seq + e.append_events, s.head, 0), s.writer_epoch
    from unnest(_session_ids, _incarnations, _expected_seqs, _epochs)
      with ordinality as c (session_id, incarnation, expected_seq, epoch, n)
    cross join lateral (
      select min(l.n)::integer as n
      from unnest(_chains) with ordinality as l (chain, n)
      where l.chain = c.n
    ) a
    left join lateral (
      select s.session_id, s.incarnation, s.head, s.deleted_at, s.rules_version, s.writer_epoch
      from turnlog.sessions s
      where s.session_id = c.session_id
    ) s on true
    left join lateral (
      select e.seq, e.append_events, e.append_digest
      from turnlog.events e
      where e.session_id = c.session_id and e.append_id = _append_ids[a.n]
    ) e on true
    where not _is_moved[c.n];
  end if;
end $$;
--> statement-breakpoint
-- Checkpoints change no column of an index while all goes well, so that room in their pages keeps the index as it is. Work is
-- updated in the columns of both its indexes, and room in its pages is of no use.
alter table turnlog.checkpoints set (fillfactor = 50);
--> statement-breakpoint
alter table turnlog.work reset (fillfactor);
