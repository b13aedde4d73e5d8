-- Stretches in which the receiving endpoint took nothing: three or more messages whose first
-- attempt must have failed, at least a minute from the first failure to the last, and no receipt
-- between them. Receipts are known to five minutes: failures between two of those do not count.
with receipt as (
  select
    provider,
    slot,
    min(from_ms) as from_ms,
    max(to_ms) as to_ms
  from receipt_cell
  group by
    provider,
    slot
),
failure as (
  select distinct
    provider,
    at_ms,
    identity,
    attempt
  from failed_attempt
),
pieces as (
  select
    provider,
    from_ms,
    to_ms,
    1 as is_receipt,
    0 as is_first
  from receipt
  union all
  select
    failure.provider,
    failure.at_ms as from_ms,
    failure.at_ms as to_ms,
    0 as is_receipt,
    case when failure.attempt = 1 then 1 else 0 end as is_first
  from failure
  left join receipt
    on receipt.provider = failure.provider
    and receipt.slot = failure.at_ms / 300000
    and receipt.from_ms <= failure.at_ms
    and receipt.to_ms >= failure.at_ms
  where receipt.provider is null
),
numbered as (
  select
    provider,
    from_ms,
    to_ms,
    is_receipt,
    is_first,
    sum(is_receipt) over (
      partition by provider order by from_ms, to_ms, is_receipt
      rows between unbounded preceding and current row
    ) as receipts
  from pieces
),
stretch as (
  select
    provider,
    receipts,
    min(from_ms) as from_ms,
    max(to_ms) as to_ms,
    sum(is_first) as delayed
  from numbered
  where is_receipt = 0
  group by
    provider,
    receipts
),
outage as (
  select
    stretch.provider,
    stretch.from_ms,
    stretch.to_ms,
    stretch.delayed,
    earlier.to_ms as last_taken_ms,
    later.from_ms as next_taken_ms
  from stretch
  left join numbered as earlier
    on earlier.provider = stretch.provider
    and earlier.receipts = stretch.receipts
    and earlier.is_receipt = 1
  left join numbered as later
    on later.provider = stretch.provider
    and later.receipts = stretch.receipts + 1
    and later.is_receipt = 1
  where
    stretch.delayed >= 3
    and stretch.to_ms - stretch.from_ms >= 60000
),
lost as (
  select
    outage.provider,
    outage.from_ms,
    sum(missing.missing_events) as events
  from outage
  join break_state as missing
    on missing.provider = outage.provider
    and missing.expected_ms > coalesce(outage.last_taken_ms, outage.from_ms - 1)
    and missing.expected_ms < coalesce(outage.next_taken_ms, outage.to_ms + 1)
  where
    missing.status not in ('pending', 'resolved')
    and substr(missing.code, 1, 7) = 'MISSED_'
  group by
    outage.provider,
    outage.from_ms
)
select
  outage.from_ms,
  outage.to_ms,
  provider.word as provider,
  outage.delayed as deliveries_delayed,
  coalesce(lost.events, 0) as deliveries_lost,
  outage.last_taken_ms,
  outage.next_taken_ms
from outage
left join lost
  on lost.provider = outage.provider
  and lost.from_ms = outage.from_ms
join provider_name as provider on provider.id = outage.provider
order by
  outage.from_ms,
  outage.to_ms,
  provider.word
