-- Breaks that are pending, open, or resolved at this as-of; decided ones are in the history.
select
  row.*,
  max(0, as_of.ms - row.expected_at) / 86400000 as age_days
from break_state as row
cross join as_of
where row.status in ('pending', 'open', 'reopened', 'resolved')
order by row.break_id
