-- Deliveries of a day, with attempts and latency, unknown without receive times. A day without
-- deliveries of a provider has rows of zero, for the kinds of its last day with some.
with silences as (
  select
    provider,
    day as last_day,
    lead(day) over (partition by provider order by day) as next_day
  from (
    select distinct feed.provider, arrival.day
    from fold_feed as feed
    join delivery_day as arrival using (provider, app)
    where arrival.day between feed.begin_ms / 86400000 and feed.newest_ms / 86400000
  )
),
silent as (
  select distinct
    day.number as day,
    cell.provider,
    cell.kind
  from silences as silence
  join day on day.number between silence.last_day + 1 and silence.next_day - 1
  join delivery_cell as cell on cell.day = silence.last_day and cell.provider = silence.provider
  where
    silence.next_day > silence.last_day + 1
    and cell.delivered > 0
),
delivery as (
  select
    cell.day,
    cell.provider,
    cell.kind,
    sum(cell.delivered) as delivered,
    sum(cell.distinct_events) as distinct_events,
    sum(cell.duplicates_exact) as duplicates_exact,
    sum(cell.duplicates_semantic) as duplicates_semantic,
    sum(cell.conflicts) as conflicts,
    sum(cell.received) as received,
    sum(iif(cell.schedule = fit.schedule, cell.attempt_1, 0)) as attempt_1,
    sum(iif(cell.schedule = fit.schedule, cell.attempt_2, 0)) as attempt_2,
    sum(iif(cell.schedule = fit.schedule, cell.attempt_3, 0)) as attempt_3,
    sum(iif(cell.schedule = fit.schedule, cell.attempt_4, 0)) as attempt_4,
    sum(iif(cell.schedule = fit.schedule, cell.attempt_5, 0)) as attempt_5,
    sum(iif(cell.schedule = fit.schedule, cell.attempt_6, 0)) as attempt_6,
    max(cell.latency_max_s) as latency_max_s
  from delivery_cell as cell
  join fitting_schedule as fit on fit.provider = cell.provider
  group by
    cell.day,
    cell.provider,
    cell.kind
),
shown as (
  select day, provider, kind from delivery
  union
  select day, provider, kind from arrival_cell
  union
  select day, provider, kind from silent
)
select
  row.day,
  row.provider,
  row.kind,
  ifnull(delivery.delivered, 0) as delivered,
  ifnull(delivery.distinct_events, 0) as distinct_events,
  ifnull(delivery.duplicates_exact, 0) as duplicates_exact,
  ifnull(delivery.duplicates_semantic, 0) as duplicates_semantic,
  ifnull(delivery.conflicts, 0) as conflicts,
  ifnull(arrival.out_of_order, 0) as out_of_order,
  ifnull(arrival.late, 0) as late,
  iif(delivery.received > 0, delivery.attempt_1, null) as attempt_1,
  iif(delivery.received > 0, delivery.attempt_2, null) as attempt_2,
  iif(delivery.received > 0, delivery.attempt_3, null) as attempt_3,
  iif(delivery.received > 0, delivery.attempt_4, null) as attempt_4,
  iif(delivery.received > 0, delivery.attempt_5, null) as attempt_5,
  iif(delivery.received > 0, delivery.attempt_6, null) as attempt_6,
  iif(
    delivery.received > 0,
    delivery.delivered - delivery.attempt_1 - delivery.attempt_2 - delivery.attempt_3
      - delivery.attempt_4 - delivery.attempt_5 - delivery.attempt_6,
    null
  ) as attempt_unknown,
  latency.p50 as latency_p50_s,
  latency.p95 as latency_p95_s,
  latency.p99 as latency_p99_s,
  delivery.latency_max_s
from shown as row
left join delivery using (day, provider, kind)
left join arrival_cell as arrival using (day, provider, kind)
left join silent using (day, provider, kind)
left join latency using (day, provider, kind)
where
  silent.day is not null
  or delivery.delivered <> 0
  or delivery.distinct_events <> 0
  or delivery.duplicates_exact <> 0
  or delivery.duplicates_semantic <> 0
  or delivery.conflicts <> 0
  or arrival.out_of_order <> 0
  or arrival.late <> 0
order by
  row.day,
  row.provider,
  row.kind
