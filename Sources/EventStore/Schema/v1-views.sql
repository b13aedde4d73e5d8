-- Public views, with names instead of numbers: `subledger sql` describes each column.
-- Each amount has two columns: an exact decimal for people, and millionths, which add up exactly.

-- The names of enumerated numbers.
create view provider_word (id, word) as
values (1, 'qonversion'), (2, 'flobuk'), (3, 'iaptic'), (4, 'purple');

create view store_word (id, word) as
values
  (0, 'unknown'), (1, 'app_store'), (2, 'mac_app_store'), (3, 'play_store'), (4, 'stripe'),
  (5, 'amazon'), (6, 'windows'), (7, 'paypal');

create view environment_word (id, word) as
values (0, 'production'), (1, 'sandbox');

create view basis_word (id, word) as
values (0, 'none'), (1, 'provider'), (2, 'price_book');

create view product_type_word (id, word) as
values (0, 'subscription'), (1, 'one_time');

create view charge_kind_word (id, word) as
values
  (0, 'first'), (1, 'conversion'), (2, 'renewal'), (3, 'product_change'), (4, 'one_time');

create view movement_word (id, word) as
values
  (1, 'new'), (2, 'first_seen'), (3, 'reactivated'), (4, 'recovered'), (5, 'resumed'),
  (6, 'transfer_in'), (7, 'churned'), (8, 'paused'), (9, 'transfer_out'),
  (10, 'churned_voluntary'), (11, 'churned_involuntary'), (12, 'churned_refund'),
  (13, 'churned_price_increase'), (14, 'churned_developer'), (15, 'churned_unknown'),
  (16, 'lost'), (17, 'auto_renew_off'), (18, 'expansion'), (19, 'contraction'), (20, 'fx'),
  (21, 'churned_in_doubt');

-- Providers and product types without refunds in the feed: there, no refund is unknown, not 0.
create view provider_without_refunds (provider, product_type) as
values (2, 0), (2, 1), (4, 0);

-- A cell of revenue with the amounts that are known.
create view revenue_known as
select
  *,
  iif(has_gross, gross_usd, null) as gross_usd_micros,
  iif(has_refunds and tells_refunds, refunds_usd, null) as refunds_usd_micros,
  iif(has_gross and has_refunds, gross_usd - refunds_usd, null) as net_usd_micros,
  iif(has_gross and has_refunds and has_proceeds, gross_usd - refunds_usd - proceeds_usd, null)
    as commission_usd_micros,
  iif(has_proceeds, proceeds_usd, null) as proceeds_usd_micros,
  iif(has_gross_local, gross_local, null) as gross_local_micros,
  iif(has_refunds_local and tells_refunds, refunds_local, null) as refunds_local_micros,
  iif(has_gross_local and has_refunds_local, gross_local - refunds_local, null)
    as net_local_micros,
  iif(has_proceeds_local, proceeds_local, null) as proceeds_local_micros
from (
  select
    cell.*,
    cell.basis <> 0 and cell.gross_usd_unknown = 0 as has_gross,
    cell.basis <> 0 and cell.refunds_usd_unknown = 0 as has_refunds,
    cell.basis <> 0 and cell.proceeds_usd_unknown = 0 as has_proceeds,
    cell.basis <> 0 and cell.gross_local_unknown = 0 as has_gross_local,
    cell.basis <> 0 and cell.refunds_local_unknown = 0 as has_refunds_local,
    cell.basis <> 0 and cell.proceeds_local_unknown = 0 as has_proceeds_local,
    cell.refunds <> 0 or (cell.provider, cell.product_type) not in (
      select provider, product_type from provider_without_refunds
    ) as tells_refunds
  from revenue_cell as cell
);

create view v_revenue_daily as
select
  date(known.day * 86400, 'unixepoch') as period,
  provider.word as provider,
  app.value as app_id,
  store.word as store,
  product.value as product_id,
  product_type.word as product_type,
  charge_kind.word as charge_kind,
  country.value as country,
  storefront.value as storefront,
  currency.value as currency,
  iif(known.rate < 0, null, (known.rate / 1000000)
    || rtrim(rtrim('.' || printf('%06d', known.rate % 1000000), '0'), '.')) as proceeds_rate,
  basis.word as amount_basis,
  known.charges,
  iif(known.tells_refunds, known.refunds, null) as refunds,
  iif(known.gross_usd_micros < 0, '-', '') || abs(known.gross_usd_micros / 1000000)
    || printf('.%02d', abs(known.gross_usd_micros / 10000 % 100))
    || rtrim(printf('%04d', abs(known.gross_usd_micros % 10000)), '0') as gross_usd,
  known.gross_usd_micros,
  iif(known.refunds_usd_micros < 0, '-', '') || abs(known.refunds_usd_micros / 1000000)
    || printf('.%02d', abs(known.refunds_usd_micros / 10000 % 100))
    || rtrim(printf('%04d', abs(known.refunds_usd_micros % 10000)), '0') as refunds_usd,
  known.refunds_usd_micros,
  iif(known.net_usd_micros < 0, '-', '') || abs(known.net_usd_micros / 1000000)
    || printf('.%02d', abs(known.net_usd_micros / 10000 % 100))
    || rtrim(printf('%04d', abs(known.net_usd_micros % 10000)), '0') as net_usd,
  known.net_usd_micros,
  iif(known.commission_usd_micros < 0, '-', '') || abs(known.commission_usd_micros / 1000000)
    || printf('.%02d', abs(known.commission_usd_micros / 10000 % 100))
    || rtrim(printf('%04d', abs(known.commission_usd_micros % 10000)), '0') as commission_usd,
  known.commission_usd_micros,
  iif(known.proceeds_usd_micros < 0, '-', '') || abs(known.proceeds_usd_micros / 1000000)
    || printf('.%02d', abs(known.proceeds_usd_micros / 10000 % 100))
    || rtrim(printf('%04d', abs(known.proceeds_usd_micros % 10000)), '0') as proceeds_usd,
  known.proceeds_usd_micros,
  iif(known.gross_local_micros < 0, '-', '') || abs(known.gross_local_micros / 1000000)
    || printf('.%02d', abs(known.gross_local_micros / 10000 % 100))
    || rtrim(printf('%04d', abs(known.gross_local_micros % 10000)), '0') as gross_local,
  known.gross_local_micros,
  iif(known.refunds_local_micros < 0, '-', '') || abs(known.refunds_local_micros / 1000000)
    || printf('.%02d', abs(known.refunds_local_micros / 10000 % 100))
    || rtrim(printf('%04d', abs(known.refunds_local_micros % 10000)), '0') as refunds_local,
  known.refunds_local_micros,
  iif(known.net_local_micros < 0, '-', '') || abs(known.net_local_micros / 1000000)
    || printf('.%02d', abs(known.net_local_micros / 10000 % 100))
    || rtrim(printf('%04d', abs(known.net_local_micros % 10000)), '0') as net_local,
  known.net_local_micros,
  iif(known.proceeds_local_micros < 0, '-', '') || abs(known.proceeds_local_micros / 1000000)
    || printf('.%02d', abs(known.proceeds_local_micros / 10000 % 100))
    || rtrim(printf('%04d', abs(known.proceeds_local_micros % 10000)), '0') as proceeds_local,
  known.proceeds_local_micros
from revenue_known as known
join provider_word as provider on provider.id = known.provider
join store_word as store on store.id = known.store
join product_type_word as product_type on product_type.id = known.product_type
join charge_kind_word as charge_kind on charge_kind.id = known.charge_kind
join basis_word as basis on basis.id = known.basis
join string as app on app.id = known.app
join string as product on product.id = known.product
join string as country on country.id = known.country
join string as storefront on storefront.id = known.storefront
join string as currency on currency.id = known.currency;

create view v_movement as
select
  printf('%04d-%02d', cell.month / 12, cell.month % 12 + 1) as period,
  provider.word as provider,
  app.value as app_id,
  store.word as store,
  product.value as product_id,
  movement.word as movement,
  cell.subscriptions,
  iif(cell.mrr_usd < 0, '-', '') || abs(cell.mrr_usd / 1000000)
    || printf('.%02d', abs(cell.mrr_usd / 10000 % 100))
    || rtrim(printf('%04d', abs(cell.mrr_usd % 10000)), '0') as mrr_usd,
  cell.mrr_usd as mrr_usd_micros
from movement_cell as cell
join provider_word as provider on provider.id = cell.provider
join store_word as store on store.id = cell.store
join movement_word as movement on movement.id = cell.movement
join string as app on app.id = cell.app
join string as product on product.id = cell.product;

-- Episodes of breaks with names instead of numbers, and what people decided about them. An event
-- that only arrived late was resolved by the run that saw it.
create view break_named as
select
  episode.break_id,
  episode.episode,
  episode.code,
  case
    when episode.resolved_ms is not null or episode.status = 'resolved' then 'resolved'
    when decision.verdict is not null then decision.verdict
    when episode.status = 'open' and episode.episode > 1 then 'reopened'
    else episode.status
  end as status,
  episode.severity,
  provider.word as provider,
  episode.app as app_id,
  environment.word as environment,
  store.word as store,
  episode.user_id,
  episode.subscription_id,
  episode.transaction_id,
  episode.product_id,
  episode.expected_ms as expected_at,
  episode.first_seen_ms as first_seen_at,
  episode.last_seen_ms as last_seen_at,
  iif(episode.status = 'resolved', episode.first_seen_ms, episode.resolved_ms) as resolved_at,
  iif(episode.status = 'resolved', episode.first_run, episode.resolved_run) as resolved_by_run,
  episode.missing_events,
  episode.estimated_usd,
  basis.word as amount_basis,
  decision.verdict as decision,
  decision.reason,
  decision.who
from break_history as episode
join provider_word as provider on provider.id = episode.provider
join environment_word as environment on environment.id = episode.environment
join store_word as store on store.id = episode.store
join basis_word as basis on basis.id = episode.amount_basis
left join decision on decision.break_id = episode.break_id
where episode.episode > 0;

create view v_break as
select
  break_id,
  episode,
  code,
  status,
  severity,
  provider,
  app_id,
  environment,
  store,
  user_id,
  subscription_id,
  transaction_id,
  product_id,
  replace(strftime('%Y-%m-%dT%H:%M:%fZ', expected_at / 1000.0, 'unixepoch'), '.000Z', 'Z')
    as expected_at,
  replace(strftime('%Y-%m-%dT%H:%M:%fZ', first_seen_at / 1000.0, 'unixepoch'), '.000Z', 'Z')
    as first_seen_at,
  replace(strftime('%Y-%m-%dT%H:%M:%fZ', last_seen_at / 1000.0, 'unixepoch'), '.000Z', 'Z')
    as last_seen_at,
  replace(strftime('%Y-%m-%dT%H:%M:%fZ', resolved_at / 1000.0, 'unixepoch'), '.000Z', 'Z')
    as resolved_at,
  resolved_by_run,
  missing_events,
  iif(estimated_usd < 0, '-', '') || abs(estimated_usd / 1000000)
    || printf('.%02d', abs(estimated_usd / 10000 % 100))
    || rtrim(printf('%04d', abs(estimated_usd % 10000)), '0') as estimated_usd,
  estimated_usd as estimated_usd_micros,
  amount_basis,
  coalesce(decision, '') as decision,
  coalesce(reason, '') as reason,
  coalesce(who, '') as who
from break_named;
