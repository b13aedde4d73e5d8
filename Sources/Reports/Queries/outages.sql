-- Times when the endpoint accepted nothing, and what was lost then.
with lost as (
  select
    outage.provider,
    outage.from_ms,
    sum(missing.missing_events) as events
  from outage
  join break_state as missing
    on missing.provider_id = outage.provider
    and missing.expected_at > coalesce(outage.last_taken_ms, outage.from_ms - 1)
    and missing.expected_at < coalesce(outage.next_taken_ms, outage.to_ms + 1)
  join break_code as code on code.code = missing.code
  where
    missing.status not in ('pending', 'resolved')
    and code.is_missing = 1
  group by
    outage.provider,
    outage.from_ms
)
select
  outage.from_ms as "from",
  outage.to_ms as "to",
  provider.word as provider,
  outage.delayed as deliveries_delayed,
  coalesce(lost.events, 0) as deliveries_lost,
  outage.last_taken_ms as last_taken_at,
  outage.next_taken_ms as next_taken_at
from outage
left join lost using (provider, from_ms)
join provider_word as provider on provider.id = outage.provider
order by
  outage.from_ms,
  outage.to_ms,
  provider.word
