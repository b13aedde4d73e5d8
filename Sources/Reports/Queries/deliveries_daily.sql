-- What came on a day, at which attempt and how late. Without a receive time nothing is known of
-- attempts and latencies, which is not zero. A day on which a provider delivered nothing has rows
-- of zero, of the kinds that came on its last day before.
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
silences as (
  select
    provider,
    day as last_day,
    lead(day) over (
      partition by provider
      order by day
    ) as next_day
  from arrivals
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
    0 as is_silent
  from arrival_cell
  union all
  select
    day.number as day,
    cell.provider,
    cell.kind,
    0 as delivered,
    0 as distinct_events,
    0 as duplicates_exact,
    0 as duplicates_semantic,
    0 as conflicts,
    0 as out_of_order,
    0 as late,
    0 as received,
    0 as attempt_1,
    0 as attempt_2,
    0 as attempt_3,
    0 as attempt_4,
    0 as attempt_5,
    0 as attempt_6,
    null as latency_max_s,
    1 as is_silent
  from silences as silence
  join day on day.number between silence.last_day + 1 and silence.next_day - 1
  join delivery_cell as cell on cell.day = silence.last_day and cell.provider = silence.provider
  where
    silence.next_day > silence.last_day + 1
    and cell.delivered > 0
),
sums as (
  select
    day,
    provider,
    kind,
    sum(delivered) as delivered,
    sum(distinct_events) as distinct_events,
    sum(duplicates_exact) as duplicates_exact,
    sum(duplicates_semantic) as duplicates_semantic,
    sum(conflicts) as conflicts,
    sum(out_of_order) as out_of_order,
    sum(late) as late,
    sum(received) as received,
    sum(attempt_1) as attempt_1,
    sum(attempt_2) as attempt_2,
    sum(attempt_3) as attempt_3,
    sum(attempt_4) as attempt_4,
    sum(attempt_5) as attempt_5,
    sum(attempt_6) as attempt_6,
    max(latency_max_s) as latency_max_s,
    max(is_silent) as is_silent
  from parts
  group by
    day,
    provider,
    kind
)
select
  row.day,
  row.provider,
  row.kind,
  row.delivered,
  row.distinct_events,
  row.duplicates_exact,
  row.duplicates_semantic,
  row.conflicts,
  row.out_of_order,
  row.late,
  case when row.received > 0 then row.attempt_1 end as attempt_1,
  case when row.received > 0 then row.attempt_2 end as attempt_2,
  case when row.received > 0 then row.attempt_3 end as attempt_3,
  case when row.received > 0 then row.attempt_4 end as attempt_4,
  case when row.received > 0 then row.attempt_5 end as attempt_5,
  case when row.received > 0 then row.attempt_6 end as attempt_6,
  case
    when row.received > 0
      then
        row.delivered - row.attempt_1 - row.attempt_2 - row.attempt_3 - row.attempt_4
        - row.attempt_5 - row.attempt_6
  end as attempt_unknown,
  latency.p50 as latency_p50_s,
  latency.p95 as latency_p95_s,
  latency.p99 as latency_p99_s,
  row.latency_max_s
from sums as row
left join latency
  on latency.day = row.day
  and latency.provider = row.provider
  and latency.kind = row.kind
where
  row.delivered <> 0
  or row.distinct_events <> 0
  or row.duplicates_exact <> 0
  or row.duplicates_semantic <> 0
  or row.conflicts <> 0
  or row.out_of_order <> 0
  or row.late <> 0
  or row.is_silent = 1
order by row.day
