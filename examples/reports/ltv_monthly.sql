-- name: ltv_monthly
-- column: cohort yearmonth key Month of the first charge of a subscription.
-- column: provider string key Who sent the webhooks.
-- column: app_id string key App as the provider names it; empty when absent.
-- column: months_since integer key Months since the cohort's.
-- column: subscriptions integer Subscriptions of the cohort; not to be added up over months.
-- column: net_usd usd Charged less refunds in the month; empty when unknown.
-- column: proceeds_usd usd After commission, in the month; empty when unknown.
-- column: ltv_net_usd usd Net since the first charge by subscription, cut to the millionth.
-- column: ltv_proceeds_usd usd Proceeds since the first charge by subscription, likewise.
with paid as (
  select
    provider, app_id, store, subscription_id, gross_usd_micros, proceeds_usd_micros,
    substr(period, 1, 4) * 12 + substr(period, 6, 2) - 1 as month
  from v_charge
  where charge_kind <> 'one_time'
),
first as (
  select provider, app_id, store, subscription_id, min(month) as cohort
  from paid
  group by 1, 2, 3, 4
),
sizes as (
  select cohort, provider, app_id, count(*) as subscriptions from first group by 1, 2, 3
),
booked as (
  select
    first.cohort, first.provider, first.app_id, paid.month,
    sum(paid.gross_usd_micros) as net,
    sum(paid.proceeds_usd_micros) as proceeds,
    sum(paid.gross_usd_micros is null) as no_net,
    sum(paid.proceeds_usd_micros is null) as no_proceeds
  from paid
  join first using (provider, app_id, store, subscription_id)
  group by 1, 2, 3, 4
),
months as (select distinct month from paid),
rows as (
  select
    sizes.cohort, sizes.provider, sizes.app_id, months.month - sizes.cohort as months_since,
    sizes.subscriptions,
    coalesce(booked.net, 0) as net, coalesce(booked.proceeds, 0) as proceeds,
    coalesce(booked.no_net, 0) as no_net, coalesce(booked.no_proceeds, 0) as no_proceeds
  from sizes
  join months on months.month >= sizes.cohort
  left join booked on booked.cohort = sizes.cohort and booked.provider = sizes.provider
    and booked.app_id = sizes.app_id and booked.month = months.month
)
select
  printf('%04d-%02d', cohort / 12, cohort % 12 + 1) as cohort,
  provider,
  app_id,
  months_since,
  subscriptions,
  iif(no_net = 0, net, null) as net_usd,
  iif(no_proceeds = 0, proceeds, null) as proceeds_usd,
  iif(sum(no_net) over life = 0, sum(net) over life / subscriptions, null) as ltv_net_usd,
  iif(sum(no_proceeds) over life = 0, sum(proceeds) over life / subscriptions, null)
    as ltv_proceeds_usd
from rows
window life as (partition by cohort, provider, app_id order by months_since)
