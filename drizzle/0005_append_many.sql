-- Many small appends in one call: append_many_v1. Each append stands as if it had been sent by itself, with an outbox
-- row of its own; what they share is the round trip and the commit.

-- A chain is what a call appends to one session: one or more appends, of which each begins where the one before it
-- ends. A chain is stored as a whole or not at all, and no chain stands in another one's way.
--   _session_ids, _incarnations, _expected_seqs   one element a chain; seq 0 creates the session with that incarnation
--   _states, _headers                             one line a chain: the state after it; for a new session its header
--   _tenants                                      for a new session
--   _epochs, _hold_ms                             the writer's epoch (null = not a writer), for how long it stays alive
--   _rules_version                                of all states
--   _chains, _append_ids, _event_counts, _facts_ends   one element an append, in the order of each chain: the number of
--                                                 its chain from 1; facts end is the offset after its last fact (0 = none)
--   _digests                                      16 bytes an append
--   _appends                                      one element a row: the number of its append from 1, ascending
--   _counts ... _payloads                         one line a row, joined by line feeds; an empty line is null
-- Returns one row a chain. Outcomes: appended; busy (the session row is locked, and nothing was waited for); repeated (an
-- append that is not the chain's first one is stored already); else that of append_v1 for the first append of the chain,
-- and nothing is known of the later ones.
-- Locks: the session rows until commit, by session id. Existing ones are skipped where they are locked; a new one waits
-- for whoever creates the same session, at most for the lock timeout, which fails the whole call (55P03).
-- Joins are nested loops over the given arrays with a look-up in an index each: any other plan reads a whole table.
create function turnlog.append_many_v1(
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
  _found integer[];
  _chain integer;
begin
  for _append in 1 .. cardinality(_chains) loop
    _chain := _chains[_append];
    _first_seqs[_append] := _next_seqs[_chain];
    _next_seqs[_chain] := _first_seqs[_append] + _event_counts[_append];
    if _facts_ends[_append] > 0 then
      _facts_heads[_chain] := _first_seqs[_append] + _facts_ends[_append];
    end if;
  end loop;

  if exists (
    select
    from unnest(_appends, string_to_array(_counts, E'\n')) as r (append, event_count)
    group by r.append
    having sum(r.event_count::integer) is distinct from _event_counts[r.append]
  ) or (select count(distinct r) from unnest(_appends) r) <> cardinality(_chains) then
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
  select _session_ids[_chains[r.append]], _first_seqs[r.append] + r.end_offset - r.event_count, r.event_count, r.type, r.time_ms::bigint,
         r.turn::bigint, r.step::bigint, r.ignorable is not null, r.surface_op, r.sources, r.key_order, r.payload,
         case when r.end_offset = r.event_count then _append_ids[r.append] end,
         case when r.end_offset = r.event_count then substring(_digests from 16 * r.append - 15 for 16) end,
         case when r.end_offset = r.event_count then _event_counts[r.append] end
  from (
    select g.append, g.event_count::integer as event_count,
           sum(g.event_count::integer) over (partition by g.append order by g.n) as end_offset,
           g.type, g.time_ms, g.turn, g.step, g.ignorable, g.surface_op, g.sources, g.key_order, g.payload
    from unnest(
      _appends, string_to_array(_counts, E'\n'), string_to_array(_types, E'\n'),
      string_to_array(_times, E'\n'), string_to_array(_turns, E'\n', ''), string_to_array(_steps, E'\n', ''),
      string_to_array(_ignorables, E'\n', ''), string_to_array(_surface_ops, E'\n', ''),
      string_to_array(_source_event_seqs, E'\n', ''), string_to_array(_key_orders, E'\n', ''),
      string_to_array(_payloads, E'\n'))
      with ordinality as g (append, event_count, type, time_ms, turn, step, ignorable, surface_op, sources, key_order, payload, n)
  ) r
  where _is_moved[_chains[r.append]];

  insert into turnlog.outbox (session_id, first_seq, next_seq, facts_next_seq, incarnation)
  select _session_ids[a.chain], _first_seqs[a.n], _first_seqs[a.n] + a.event_count,
         case when a.facts_end > 0 then _first_seqs[a.n] + a.facts_end end, _incarnations[a.chain]
  from unnest(_chains, _event_counts, _facts_ends) with ordinality as a (chain, event_count, facts_end, n)
  where _is_moved[a.chain];

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
