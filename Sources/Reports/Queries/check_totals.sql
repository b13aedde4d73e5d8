-- What the printed columns must add up to, summed from the cells without any join. Revenue
-- by day is compared with the sums of its months, which are kept apart from the days.
with revenue as (
  select
    sum(charges) as charges,
    sum(refunds) as refunds
  from revenue_month_cell
),
-- Open breaks of the last run without a decision.
standing as (
  select break.missing_events
  from break
  left join decision on decision.break_id = break.id
  where
    break.last_run = (select max(run.id) from run)
    and break.status = 'open'
    and decision.verdict is null
)
select 'revenue_daily' as report, 'charges' as measure, charges as total from revenue
union all
select 'revenue_daily' as report, 'refunds' as measure, refunds as total from revenue
union all
select 'revenue_monthly' as report, 'charges' as measure, charges as total from revenue
union all
select 'revenue_monthly' as report, 'refunds' as measure, refunds as total from revenue
union all
select 'churn_monthly' as report, name.word as measure, sum(cell.subscriptions) as total
from movement_word as name
left join movement_cell as cell on cell.movement = name.id
where name.word in ('new', 'churned', 'lost')
group by name.word
union all
select 'renewals_monthly' as report, 'renewals' as measure, sum(renewals) as total
from renewal_cell
union all
select 'renewals_monthly' as report, 'renewals_refunded' as measure, sum(refunded) as total
from renewal_cell
union all
select 'trials_monthly' as report, 'started' as measure, sum(started) as total from trial_cell
union all
select 'excluded_monthly' as report, 'events' as measure, sum(events) as total
from excluded_cell
union all
select 'deliveries_daily' as report, 'delivered' as measure, sum(delivered) as total
from delivery_cell
union all
select 'inputs' as report, 'lines' as measure, sum(lines) as total
from archive
where kind = 'events'
union all
select 'quality_monthly' as report, 'open_breaks' as measure, count(*) as total
from standing
union all
select 'quality_monthly' as report, 'missing_events' as measure, sum(missing_events) as total
from standing
