-- Cohorts of new subscriptions, month by month. Cells hold changes, so who is retained is a
-- running sum; a month counts once it has ended by as-of.
with cohorts as (
  select
    cohort,
    provider,
    app,
    store,
    product,
    sum(joined) as joined
  from retention_cell
  group by
    cohort,
    provider,
    app,
    store,
    product
),
months as (
  select
    cohorts.*,
    month.number as period,
    month.number - cohorts.cohort as period_index,
    month.number < as_of.month as has_ended,
    sum(coalesce(cell.active_change, 0)) over (
      partition by
        cohorts.cohort, cohorts.provider, cohorts.app, cohorts.store, cohorts.product
      order by month.number
      rows between unbounded preceding and current row
    ) as active,
    coalesce(cell.net_usd, 0) as net_usd,
    coalesce(cell.net_usd_unknown, 0) as net_usd_unknown
  from cohorts
  cross join as_of
  join month on month.number >= cohorts.cohort and month.number <= as_of.last_month
  left join retention_cell as cell
    on cell.cohort = cohorts.cohort
    and cell.provider = cohorts.provider
    and cell.app = cohorts.app
    and cell.store = cohorts.store
    and cell.product = cohorts.product
    and cell.period_index = month.number - cohorts.cohort
)
select
  row.cohort,
  row.provider,
  row.app as app_id,
  row.store,
  row.product as product_id,
  row.period_index,
  row.has_ended * row.joined as eligible,
  row.has_ended * row.active as retained,
  case when row.net_usd_unknown = 0 then row.net_usd end as net_usd,
  row.period < horizon.settled_month as is_complete
from months as row
join horizon on horizon.provider = row.provider and horizon.app = row.app
where
  row.has_ended * row.joined <> 0
  or row.has_ended * row.active <> 0
  or row.net_usd <> 0
  or row.net_usd_unknown <> 0
order by row.cohort
