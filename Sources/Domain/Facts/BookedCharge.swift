/// A charge or refund as the list of charges shows it; amounts of a refund are negative.
public struct BookedCharge: Sendable {
  /// The event, with its archive and line.
  public var event: Event
  /// For a refund, the event of the refunded charge; nil when the ledger has none.
  public var refunded: Event?
  /// Whether it is a refund.
  public var isRefund: Bool
  /// The row of revenue that counts it.
  public var row: RevenueKey
  /// The number of a renewal; for a refund, of the refunded renewal.
  public var renewalOrdinal: Int64?
  /// The start of the paid period; nil if unknown or for a one-time purchase.
  public var periodStart: Instant?
  /// The end of the paid period.
  public var periodEnd: Instant?
  /// Before commission, in the row's currency; nil when unknown.
  public var grossLocal: Amount?
  /// After commission, in the row's currency; nil when unknown.
  public var proceedsLocal: Amount?
  /// Before commission, in US dollars; nil when unknown.
  public var grossUSD: Amount?
  /// After commission, in US dollars; nil when unknown.
  public var proceedsUSD: Amount?

  /// The ledger's symbol of the offer; 0 for the full price.
  public var offer: StringID { (refunded ?? event).offer }

  /// A booking of `event`; all other fields are set by name.
  public init(_ event: Event, isRefund: Bool, in row: RevenueKey) {
    (self.event, self.isRefund, self.row) = (event, isRefund, row)
  }
}
