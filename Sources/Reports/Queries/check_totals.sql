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
select 'revenue_daily', 'refunds', refunds from revenue
union all
select 'revenue_monthly', 'charges', charges from revenue
union all
select 'revenue_monthly', 'refunds', refunds from revenue
union all
select 'churn_monthly', name.word, sum(cell.subscriptions)
from movement_word as name
left join movement_cell as cell on cell.movement = name.id
where name.word in ('new', 'churned', 'lost')
group by name.word
union all
select 'renewals_monthly', 'renewals', sum(renewals) from renewal_cell
union all
select 'renewals_monthly', 'renewals_refunded', sum(refunded) from renewal_cell
union all
select 'trials_monthly', 'started', sum(started) from trial_cell
union all
select 'excluded_monthly', 'events', sum(events) from excluded_cell
union all
select 'deliveries_daily', 'delivered', sum(delivered) from delivery_cell
union all
select 'inputs', 'lines', sum(lines) from archive where kind = 'events'
union all
select 'quality_monthly', 'open_breaks', count(*) from standing
union all
select 'quality_monthly', 'missing_events', sum(missing_events) from standing
