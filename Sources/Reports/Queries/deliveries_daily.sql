-- Deliveries of a day, with attempts and latency. Without receive times, attempts and latencies
-- are unknown, not zero. A day on which a provider delivered nothing has rows
-- of zero, for the kinds of its last day with deliveries.
with
-- A day of several feeds or runs is here more than once; between its copies, no day is missing.
gaps as (
  select
    feed.provider,
    arrival.day as last_day,
    lead(arrival.day) over (partition by feed.provider order by arrival.day) as next_day
  from fold_feed as feed
  join delivery_day as arrival
    on arrival.provider = feed.provider
    and arrival.app = feed.app
    and arrival.day between feed.begin_ms / 86400000 and feed.newest_ms / 86400000
),
arrivals as (
  select
    *,
    0 as is_silent
  from arrival_cell
  union all
  select
    day.number,
    cell.provider,
    cell.kind,
    0,
    0,
    1
  from gaps as gap
  join day on day.number between gap.last_day + 1 and gap.next_day - 1
  join delivery_cell as cell on cell.day = gap.last_day and cell.provider = gap.provider
  where cell.delivered > 0
),
parts as (
  select
    cell.day,
    cell.provider,
    cell.kind,
    cell.delivered,
    cell.distinct_events,
    cell.duplicates_exact,
    cell.duplicates_semantic,
    cell.conflicts,
    0 as out_of_order,
    0 as late,
    cell.received,
    case when cell.schedule = fit.schedule then cell.attempt_1 else 0 end as attempt_1,
    case when cell.schedule = fit.schedule then cell.attempt_2 else 0 end as attempt_2,
    case when cell.schedule = fit.schedule then cell.attempt_3 else 0 end as attempt_3,
    case when cell.schedule = fit.schedule then cell.attempt_4 else 0 end as attempt_4,
    case when cell.schedule = fit.schedule then cell.attempt_5 else 0 end as attempt_5,
    case when cell.schedule = fit.schedule then cell.attempt_6 else 0 end as attempt_6,
    cell.latency_max_s,
    0 as is_silent
  from delivery_cell as cell
  join fitting_schedule as fit on fit.provider = cell.provider
  union all
  select
    day,
    provider,
    kind,
    0 as delivered,
    0 as distinct_events,
    0 as duplicates_exact,
    0 as duplicates_semantic,
    0 as conflicts,
    out_of_order,
    late,
    0 as received,
    0 as attempt_1,
    0 as attempt_2,
    0 as attempt_3,
    0 as attempt_4,
    0 as attempt_5,
    0 as attempt_6,
    null as latency_max_s,
    is_silent
  from arrivals
)
select
  row.day,
  row.provider,
  row.kind,
  sum(row.delivered) as delivered,
  sum(row.distinct_events) as distinct_events,
  sum(row.duplicates_exact) as duplicates_exact,
  sum(row.duplicates_semantic) as duplicates_semantic,
  sum(row.conflicts) as conflicts,
  sum(row.out_of_order) as out_of_order,
  sum(row.late) as late,
  case when sum(row.received) > 0 then sum(row.attempt_1) end as attempt_1,
  case when sum(row.received) > 0 then sum(row.attempt_2) end as attempt_2,
  case when sum(row.received) > 0 then sum(row.attempt_3) end as attempt_3,
  case when sum(row.received) > 0 then sum(row.attempt_4) end as attempt_4,
  case when sum(row.received) > 0 then sum(row.attempt_5) end as attempt_5,
  case when sum(row.received) > 0 then sum(row.attempt_6) end as attempt_6,
  case
    when sum(row.received) > 0
      then
        sum(row.delivered) - sum(row.attempt_1) - sum(row.attempt_2) - sum(row.attempt_3)
        - sum(row.attempt_4) - sum(row.attempt_5) - sum(row.attempt_6)
  end as attempt_unknown,
  -- A group has one such row.
  max(latency.p50) as latency_p50_s,
  max(latency.p95) as latency_p95_s,
  max(latency.p99) as latency_p99_s,
  max(row.latency_max_s) as latency_max_s
from parts as row
left join latency using (day, provider, kind)
group by
  row.day,
  row.provider,
  row.kind
having
  sum(row.delivered) <> 0
  or sum(row.out_of_order) <> 0
  or sum(row.late) <> 0
  or max(row.is_silent) = 1
order by
  row.day,
  row.provider,
  row.kind
