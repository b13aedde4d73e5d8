-- Differences and missing events: all that are pending or open, and those resolved at this
-- as-of. Decided breaks are only in the history.
select
  row.*,
  max(0, as_of.ms - row.expected_at) as age_days
from break_state as row
cross join as_of
where row.status in ('pending', 'open', 'reopened', 'resolved')
order by row.break_id
