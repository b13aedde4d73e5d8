-- What is missing in the data of each feed, counted over the cells.
with cell as (
  select
    *,
    basis = (select id from basis_word where word = 'price_book') as is_listed,
    product_type = (select id from product_type_word where word = 'subscription')
      as is_subscription,
    -- Without the carries of sums, which are multiples of 2^40.
    ((gross_usd_unknown + 549755813888) & 1099511627775) - 549755813888 as without_usd,
    ((proceeds_usd_unknown + 549755813888) & 1099511627775) - 549755813888 as without_proceeds
  from revenue_month_cell
),
revenue as (
  select
    provider,
    app,
    sum(charges) as charges,
    sum(charges) filter (where is_subscription) as subscription_charges,
    sum(charges - without_usd) filter (where is_listed) as listed_amounts,
    sum(without_usd) as without_usd,
    sum(charges - without_usd) filter (where is_listed and is_subscription)
      as listed_subscriptions,
    sum(without_usd) filter (where is_subscription) as subscriptions_without_usd,
    sum(charges + refunds) as bookings,
    sum(charges + refunds - without_proceeds) filter (where is_listed) as listed_rates,
    sum(without_proceeds) as without_proceeds,
    sum(charges) filter (where country = 0) as without_country,
    sum(charges) filter (where storefront = 0) as without_storefront
  from cell
  group by
    provider,
    app
),
renewal as (
  select
    provider,
    app,
    sum(renewals) as renewals,
    sum(renewals) filter (where ordinal = -1) as without_ordinal
  from renewal_cell
  group by
    provider,
    app
),
movement as (
  select
    provider,
    app,
    sum(subscriptions) as without_reason
  from movement_cell
  where movement = (select id from movement_name where word = 'churned_unknown')
  group by
    provider,
    app
),
delivery as (
  select
    cell.provider,
    sum(cell.distinct_events) filter (where kind.word = 'observed') as states,
    sum(cell.distinct_events) filter (where kind.word not in ('observed', 'other'))
      as single_events
  from delivery_cell as cell
  join event_kind_name as kind on kind.id = cell.kind
  where cell.day * 86400000 < (select ms from as_of)
  group by cell.provider
),
gap as (
  select
    cell.provider,
    cell.app,
    sum(cell.events) filter (where name.word = 'unchained_charge') as unchained,
    sum(cell.events) filter (where name.word = 'open_ended_period') as open_ended,
    sum(cell.events) filter (where name.word = 'derived_end') as derived_ends,
    sum(cell.events) filter (where name.word = 'offer_without_price') as unlisted_offers,
    sum(cell.events) filter (where name.word = 'charge_without_transaction')
      as without_transaction
  from coverage_cell as cell
  join gap_name as name on name.id = cell.gap
  -- Arrivals are not gaps, and are most of the cells.
  where cell.gap <> (select id from gap_name where word = 'arrival')
  group by
    cell.provider,
    cell.app
)
select
  *,
  exists (
    select 1 from snapshot
    where
      snapshot.provider = feed.provider
      and snapshot.app in (0, feed.app)
      and snapshot.captured_ms <= (select ms from as_of)
  ) as has_snapshots,
  (select count(distinct provider) from horizon) > 1 as has_other_providers
from (select provider, app from horizon) as feed
left join revenue using (provider, app)
left join renewal using (provider, app)
left join movement using (provider, app)
left join delivery using (provider)
left join gap using (provider, app)
order by
  feed.provider,
  feed.app
