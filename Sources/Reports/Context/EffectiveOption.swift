/// An option or setting that has an effect on the numbers, by its name in `datapackage.json` and in
/// the record of a run.
public enum EffectiveOption: String, CaseIterable, CodingKey, Sendable {
  /// Business time of the set.
  case asOf = "as_of"
  /// IANA name of the zone of days and months.
  case timezone
  /// How lines end and begin.
  case csvDialect = "csv_dialect"
  /// Decimals that amounts are rounded to.
  case amountDecimals = "amount_decimals"
  /// How the page writes numbers.
  case locale
  /// Whether the set has a workbook.
  case xlsx
  /// How long after its end a subscription can still renew.
  case renewalGap = "renewal_gap_s"
  /// How long after an involuntary end a charge recovers.
  case retryHorizon = "retry_horizon_s"
  /// How old the newest input of a feed may be.
  case freshnessMax = "freshness_max_s"
  /// Before when nothing of a feed is missed.
  case historyBegins = "history_begins"
  /// Whether second charges of a store transaction are held or booked.
  case doubleCharges = "double_charges"
  /// Whose report of a store transaction counts, of several.
  case authority
  /// How long each provider tries to deliver.
  case deliveryWindow = "delivery_window_s"
  /// When each provider tries to deliver.
  case deliveryRetries = "delivery_retries_s"
  /// Whether snapshots name everybody who holds something.
  case snapshotsComplete = "snapshots_complete"
  /// Whether the entitlements in webhooks are snapshots.
  case snapshotsFromWebhooks = "snapshots_from_webhooks"
  /// Contribution of rejected lines from which on a set is qualified.
  case rejectedShare = "rejected_share"
  /// Contribution of missing money from which on a set is qualified.
  case materiality
  /// From where on breaks are how severe.
  case breaks
  /// What people decided about breaks.
  case decisions
  /// SHA-256 of the reports that analysts wrote, by name.
  case reports
  /// The longest value of a line.
  case valueBytes = "value_bytes"
  /// Entitlements by product.
  case products
  /// Lengths of products' periods.
  case periods
  /// Names of events by the names that a provider sends.
  case eventNames = "event_names"
  /// Providers whose deliveries are held to secrets.
  case authenticated
  /// The price book.
  case pricesSHA256 = "prices_sha256"
  /// The program's version, which stands beside the others.
  case version
}
