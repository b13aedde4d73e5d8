/// An option or setting that affects the numbers, by its name in `datapackage.json` and in the
/// record of a run.
public enum EffectiveOption: String, CaseIterable, Sendable {
  case asOf = "as_of"
  case timezone
  case csvDialect = "csv_dialect"
  case amountDecimals = "amount_decimals"
  case locale
  case xlsx
  case renewalGap = "renewal_gap_s"
  case retryHorizon = "retry_horizon_s"
  case freshnessMax = "freshness_max_s"
  case historyBegins = "history_begins"
  case doubleCharges = "double_charges"
  case authority
  case deliveryWindow = "delivery_window_s"
  case deliveryRetries = "delivery_retries_s"
  case snapshotsComplete = "snapshots_complete"
  case snapshotsFromWebhooks = "snapshots_from_webhooks"
  case rejectedShare = "rejected_share"
  case materiality
  case breaks
  case decisions
  /// SHA-256 of the custom reports, by name.
  case reports
  case valueBytes = "value_bytes"
  case products
  case periods
  case eventNames = "event_names"
  case authenticated
  case pricesSHA256 = "prices_sha256"
  case version
}
