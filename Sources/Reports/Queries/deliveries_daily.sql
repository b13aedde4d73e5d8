-- Deliveries of a day, with attempts and latency. Without receive times, attempts and latencies
-- are unknown, not zero. A day on which a provider delivered nothing has rows
-- of zero, for the kinds of its last day with deliveries.
with arrivals as (
  select distinct
    feed.provider,
    arrival.day
  from fold_feed as feed
  join delivery_day as arrival
    on arrival.provider = feed.provider
    and arrival.app = feed.app
    and arrival.day between feed.begin_ms / 86400000 and feed.newest_ms / 86400000
),
gaps as (
  select
    provider,
    day as last_day,
    lead(day) over (
      partition by provider
      order by day
    ) as next_day
  from arrivals
),
deliveries as (
  select
    cell.day,
    cell.provider,
    cell.kind,
    sum(cell.delivered) as delivered,
    sum(cell.distinct_events) as distinct_events,
    sum(cell.duplicates_exact) as duplicates_exact,
    sum(cell.duplicates_semantic) as duplicates_semantic,
    sum(cell.conflicts) as conflicts,
    sum(cell.received) > 0 as is_timed,
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
listed as (
  select day, provider, kind from deliveries where delivered <> 0
  union
  select day, provider, kind from arrival_cell where out_of_order <> 0 or late <> 0
  union
  select
    day.number,
    cell.provider,
    cell.kind
  from gaps as gap
  join day on day.number between gap.last_day + 1 and gap.next_day - 1
  join delivery_cell as cell on cell.day = gap.last_day and cell.provider = gap.provider
  where cell.delivered > 0
)
select
  listed.*,
  coalesce(row.delivered, 0) as delivered,
  coalesce(row.distinct_events, 0) as distinct_events,
  coalesce(row.duplicates_exact, 0) as duplicates_exact,
  coalesce(row.duplicates_semantic, 0) as duplicates_semantic,
  coalesce(row.conflicts, 0) as conflicts,
  coalesce(arrival.out_of_order, 0) as out_of_order,
  coalesce(arrival.late, 0) as late,
  case when row.is_timed then row.attempt_1 end as attempt_1,
  case when row.is_timed then row.attempt_2 end as attempt_2,
  case when row.is_timed then row.attempt_3 end as attempt_3,
  case when row.is_timed then row.attempt_4 end as attempt_4,
  case when row.is_timed then row.attempt_5 end as attempt_5,
  case when row.is_timed then row.attempt_6 end as attempt_6,
  case
    when row.is_timed
      then
        row.delivered - row.attempt_1 - row.attempt_2 - row.attempt_3 - row.attempt_4
        - row.attempt_5 - row.attempt_6
  end as attempt_unknown,
  latency.p50 as latency_p50_s,
  latency.p95 as latency_p95_s,
  latency.p99 as latency_p99_s,
  row.latency_max_s
from listed
left join deliveries as row using (day, provider, kind)
left join arrival_cell as arrival using (day, provider, kind)
left join latency using (day, provider, kind)
order by
  listed.day,
  listed.provider,
  listed.kind
