-- Times when the endpoint accepted nothing, and what was lost then.
select
  outage.from_ms as "from",
  outage.to_ms as "to",
  provider.word as provider,
  outage.delayed as deliveries_delayed,
  (
    select coalesce(sum(missing.missing_events), 0)
    from break_state as missing
    join break_code as code on code.code = missing.code
    where
      missing.provider_id = outage.provider
      and missing.expected_at > coalesce(outage.last_taken_ms, outage.from_ms - 1)
      and missing.expected_at < coalesce(outage.next_taken_ms, outage.to_ms + 1)
      and missing.status not in ('pending', 'resolved')
      and code.is_missing = 1
  ) as deliveries_lost,
  outage.last_taken_ms as last_taken_at,
  outage.next_taken_ms as next_taken_at
from outage
join provider_word as provider on provider.id = outage.provider
order by
  outage.from_ms,
  outage.to_ms,
  provider.word
