-- Facts: additive cells. Days are days since 1970-01-01 in the report's time zone, and facts that
-- no report shows by day are kept by month; amounts are millionths;
-- `…_unknown` counts the amounts missing from the sum beside it.

create table revenue_cell (
  day integer not null,
  provider integer not null,
  app integer not null,
  store integer not null,
  product integer not null,
  product_type integer not null,
  charge_kind integer not null,
  country integer not null,
  storefront integer not null,
  currency integer not null,
  rate integer not null, -- millionths of a percent; -1 unknown
  basis integer not null,
  charges integer not null,
  refunds integer not null,
  gross_usd integer not null,
  gross_usd_unknown integer not null,
  refunds_usd integer not null,
  refunds_usd_unknown integer not null,
  proceeds_usd integer not null,
  proceeds_usd_unknown integer not null,
  gross_local integer not null,
  gross_local_unknown integer not null,
  refunds_local integer not null,
  refunds_local_unknown integer not null,
  proceeds_local integer not null,
  proceeds_local_unknown integer not null,
  primary key (
    day, provider, app, store, product, product_type, charge_kind, country, storefront, currency,
    rate, basis)
) strict, without rowid;

-- The same by month: adding up days would take most of the time of monthly reports.
create table revenue_month_cell (
  month integer not null, -- year × 12 + month − 1
  provider integer not null,
  app integer not null,
  store integer not null,
  product integer not null,
  product_type integer not null,
  charge_kind integer not null,
  country integer not null,
  storefront integer not null,
  currency integer not null,
  rate integer not null, -- millionths of a percent; -1 unknown
  basis integer not null,
  charges integer not null,
  refunds integer not null,
  gross_usd integer not null,
  gross_usd_unknown integer not null,
  refunds_usd integer not null,
  refunds_usd_unknown integer not null,
  proceeds_usd integer not null,
  proceeds_usd_unknown integer not null,
  gross_local integer not null,
  gross_local_unknown integer not null,
  refunds_local integer not null,
  refunds_local_unknown integer not null,
  proceeds_local integer not null,
  proceeds_local_unknown integer not null,
  primary key (
    month, provider, app, store, product, product_type, charge_kind, country, storefront, currency,
    rate, basis)
) strict, without rowid;

create table movement_cell (
  month integer not null, -- year × 12 + month − 1
  provider integer not null,
  app integer not null,
  store integer not null,
  product integer not null,
  movement integer not null, -- Movement
  subscriptions integer not null,
  mrr_usd integer not null,
  primary key (month, provider, app, store, product, movement)
) strict, without rowid;

create table renewal_cell (
  month integer not null, -- year × 12 + month − 1
  provider integer not null,
  app integer not null,
  store integer not null,
  product integer not null,
  ordinal integer not null, -- -1 unknown
  renewals integer not null,
  refunded integer not null,
  primary key (month, provider, app, store, product, ordinal)
) strict, without rowid;

create table trial_cell (
  day integer not null,
  provider integer not null,
  app integer not null,
  store integer not null,
  product integer not null,
  started integer not null,
  converted integer not null,
  canceled integer not null,
  expired integer not null,
  pending integer not null,
  primary key (day, provider, app, store, product)
) strict, without rowid;

create table retention_cell (
  cohort integer not null, -- year × 12 + month − 1
  provider integer not null,
  app integer not null,
  store integer not null,
  product integer not null,
  period_index integer not null,
  joined integer not null,
  active_change integer not null,
  net_usd integer not null,
  net_usd_unknown integer not null,
  primary key (cohort, provider, app, store, product, period_index)
) strict, without rowid;

create table excluded_cell (
  day integer not null,
  provider integer not null,
  app integer not null,
  reason integer not null, -- ExclusionReason
  events integer not null,
  charges integer not null,
  primary key (day, provider, app, reason)
) strict, without rowid;

create table arrival_cell (
  day integer not null,
  provider integer not null,
  kind integer not null,
  out_of_order integer not null,
  late integer not null,
  primary key (day, provider, kind)
) strict, without rowid;

create table coverage_cell (
  day integer not null,
  provider integer not null,
  app integer not null,
  gap integer not null, -- CoverageGap
  hour integer not null, -- of an arrival in UTC, else 0
  events integer not null,
  primary key (day, provider, app, gap, hour)
) strict, without rowid;
