-- name: arpu_monthly
-- column: cohort yearmonth key Month of the first charge of a user.
-- column: provider string key Who sent the webhooks.
-- column: app_id string key App as the provider names it; empty when absent.
-- column: period yearmonth key Month in the report's time zone.
-- column: users integer Users of the cohort; not to be added up over months.
-- column: paying_users integer Users of the cohort who were charged in the month.
-- column: net_usd usd Charged less refunds in the month; empty when unknown.
-- column: arpu_usd usd Net by user, cut to the millionth.
-- column: arppu_usd usd Net by paying user, likewise; empty when none paid.
with paid as (
  select
    provider, app_id, kind, gross_usd_micros, substr(period, 1, 7) as month,
    iif(user_id = '', store || ' ' || subscription_id, user_id) as person
  from v_charge
),
first as (
  select provider, app_id, person, min(month) as cohort
  from paid
  group by 1, 2, 3
),
sizes as (select cohort, provider, app_id, count(*) as users from first group by 1, 2, 3),
booked as (
  select
    first.cohort, first.provider, first.app_id, paid.month,
    count(distinct iif(paid.kind = 'charge', paid.person, null)) as paying,
    iif(count(*) = count(paid.gross_usd_micros), sum(paid.gross_usd_micros), null) as net
  from paid
  join first using (provider, app_id, person)
  group by 1, 2, 3, 4
)
select
  booked.cohort,
  booked.provider,
  booked.app_id,
  booked.month as period,
  sizes.users,
  booked.paying as paying_users,
  booked.net as net_usd,
  booked.net / sizes.users as arpu_usd,
  booked.net / nullif(booked.paying, 0) as arppu_usd
from booked
join sizes using (cohort, provider, app_id)
