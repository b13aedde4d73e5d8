-- What came on a day and how late. No envelope keeps the number of the attempt in the ledger, so
-- those columns stay empty. A percentile is the smallest bucket that so many deliveries reach.
with parts as (
  select
    day,
    provider,
    kind,
    delivered,
    distinct_events,
    duplicates_exact,
    duplicates_semantic,
    conflicts,
    0 as out_of_order,
    0 as late
  from delivery_cell
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
    late
  from arrival_cell
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
    sum(late) as late
  from parts
  group by
    day,
    provider,
    kind
),
reached as (
  select
    day,
    provider,
    kind,
    bucket,
    sum(deliveries) over (
      partition by day, provider, kind order by bucket
      rows between unbounded preceding and current row
    ) as so_far,
    sum(deliveries) over (partition by day, provider, kind) as total
  from latency_cell
  where deliveries > 0
),
latency as (
  select
    day,
    provider,
    kind,
    min(case when 100 * so_far >= 50 * total then bucket end) as p50,
    min(case when 100 * so_far >= 95 * total then bucket end) as p95,
    min(case when 100 * so_far >= 99 * total then bucket end) as p99,
    max(bucket) as longest
  from reached
  group by
    day,
    provider,
    kind
)
select
  row.day,
  provider.word as provider,
  kind.word as kind,
  row.delivered,
  row.distinct_events,
  row.duplicates_exact,
  row.duplicates_semantic,
  row.conflicts,
  row.out_of_order,
  row.late,
  null as attempt_1,
  null as attempt_2,
  null as attempt_3,
  null as attempt_4,
  null as attempt_5,
  null as attempt_6,
  null as attempt_unknown,
  latency.p50 as latency_p50_s,
  latency.p95 as latency_p95_s,
  latency.p99 as latency_p99_s,
  latency.longest as latency_max_s
from sums as row
left join latency
  on latency.day = row.day
  and latency.provider = row.provider
  and latency.kind = row.kind
join provider_name as provider on provider.id = row.provider
join event_kind_name as kind on kind.id = row.kind
where
  row.delivered <> 0
  or row.distinct_events <> 0
  or row.duplicates_exact <> 0
  or row.duplicates_semantic <> 0
  or row.conflicts <> 0
  or row.out_of_order <> 0
  or row.late <> 0
order by
  row.day,
  provider.word,
  kind.word
