-- Open breaks of a month when it was closed. Without identifiers: the break's id leads to
-- them as long as the ledger has them.
select
  month.number as period,
  row.*
from break_state as row
cross join as_of
join month
  on coalesce(row.expected_at, as_of.ms - 1) >= month.starts_ms
  and coalesce(row.expected_at, as_of.ms - 1) < month.ends_ms
where row.status in ('pending', 'open', 'reopened')
order by
  month.number,
  row.break_id
