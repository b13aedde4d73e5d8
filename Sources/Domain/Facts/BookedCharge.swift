/// A charge or refund as the list of charges shows it; amounts of a refund are negative.
public struct BookedCharge: Sendable {
  /// When it is booked: the event time.
  public var time: Instant
  /// Whether it is a refund.
  public var isRefund: Bool
  /// What was sold.
  public var productKey: ProductKey
  /// The kind of charge; for a refund, the kind of the refunded charge.
  public var chargeKind: ChargeKind
  /// The event, with its archive and line.
  public var event: Source
  /// For a refund, the event of the refunded charge; nil when the ledger has none.
  public var refunded: Source?
  /// The number of a renewal; for a refund, of the refunded renewal.
  public var renewalOrdinal: Int64?
  /// The start of the paid period; nil if unknown or for a one-time purchase.
  public var periodStart: Instant?
  /// The end of the paid period.
  public var periodEnd: Instant?
  /// The ledger's symbol of the user's country; 0 when not sent.
  public var country: StringID
  /// The ledger's symbol of the storefront; 0 when not sent.
  public var storefront: StringID
  /// The ledger's symbol of the ISO 4217 code of local amounts; 0 when not sent.
  public var currency: StringID
  /// The ledger's symbol of the offer; 0 for the full price.
  public var offer: StringID
  /// The quantity of the product.
  public var units: Int32
  /// The amounts; nil where unknown.
  public var amounts: Amounts
  /// Percent that remains after commission; nil when unknown.
  public var rate: Amount?
  /// The source of the amounts.
  public var basis: AmountBasis

  /// A reference to an event.
  public struct Source: Sendable {
    /// `lineageKey` of its subscription.
    public var lineage: Int64
    /// The event's identity.
    public var identity: Int64
    /// Fingerprint of the user id; 0 when unknown.
    public var user: Int64
    /// `transactionKey` of the transaction id; 0 when unknown.
    public var transaction: Int64
    /// Its archive, line and byte.
    public var place: Provenance

    /// The source of `event`.
    public init(_ event: Event) {
      (lineage, identity, user) = (event.lineage, event.identity, event.user)
      (transaction, place) = (event.transaction, event.place)
    }
  }

  /// Gross and proceeds, in the currency of the charge and in US dollars.
  public struct Amounts: Sendable {
    /// Before commission, in the currency.
    public var grossLocal: Amount?
    /// After commission, in the currency.
    public var proceedsLocal: Amount?
    /// Before commission, in US dollars.
    public var grossUSD: Amount?
    /// After commission, in US dollars.
    public var proceedsUSD: Amount?

    /// The amounts of a charge.
    public init(
      grossLocal: Amount?, proceedsLocal: Amount?, grossUSD: Amount?, proceedsUSD: Amount?
    ) {
      (self.grossLocal, self.proceedsLocal) = (grossLocal, proceedsLocal)
      (self.grossUSD, self.proceedsUSD) = (grossUSD, proceedsUSD)
    }
  }

  /// A charge or refund as a row of the list.
  public init(
    time: Instant, isRefund: Bool, productKey: ProductKey, chargeKind: ChargeKind, event: Source,
    refunded: Source?, renewalOrdinal: Int64?, period: (start: Instant, end: Instant?)?,
    country: StringID, storefront: StringID, currency: StringID, offer: StringID, units: Int32,
    amounts: Amounts, rate: Amount?, basis: AmountBasis
  ) {
    (self.time, self.isRefund, self.productKey) = (time, isRefund, productKey)
    (self.chargeKind, self.event, self.refunded) = (chargeKind, event, refunded)
    self.renewalOrdinal = renewalOrdinal
    (periodStart, periodEnd) = (period?.start, period?.end)
    (self.country, self.storefront, self.currency) = (country, storefront, currency)
    (self.offer, self.units) = (offer, units)
    (self.amounts, self.rate, self.basis) = (amounts, rate, basis)
  }
}
