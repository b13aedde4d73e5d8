-- Every month of a row of subscriptions: from its first movement to the month of as-of.
select
  month.number as month,
  first.provider,
  first.app,
  first.store,
  first.product
from (
  select
    provider,
    app,
    store,
    product,
    min(month) as month
  from movement_cell
  group by
    provider,
    app,
    store,
    product
) as first
cross join as_of
join month on month.number >= first.month and month.number <= as_of.last_month
