-- Every break that any run saw, one row per episode. A break that was resolved and came
-- back keeps its earlier rows; the latest row of an unresolved break has its current state.
select *
from break_named
order by
  break_id,
  episode
