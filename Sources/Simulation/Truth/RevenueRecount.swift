import Domain

/// Recounts what was booked, charge by charge.
struct RevenueRecount {
  private struct Row: Hashable {
    var shopMonth: ShopMonth
    var kind: ChargeKind
    var country: String
    var storefront: String
    var currency: String
    var rate: Int64
    var basis: AmountBasis
  }

  private struct Sums {
    var charges: Int64 = 0
    var refunds: Int64 = 0
    var gross = Money(local: 0, usd: 0)
    var refunded = Money(local: 0, usd: 0)
    var proceeds = Money(local: 0, usd: 0)

    /// What the columns print; empty is what stays after commission where no rate is known, and
    /// what goes back where that is never told.
    func measures(isRateKnown: Bool, tellsRefunds: Bool) -> [String] {
      let back = { (amount: String) in tellsRefunds || refunds != 0 ? amount : "" }
      let net = gross.usd - refunded.usd
      let commission = isRateKnown ? printed(net - proceeds.usd) : ""
      return [
        String(charges), back(String(refunds)), printed(gross.usd), back(printed(refunded.usd)),
        printed(net), commission, isRateKnown ? printed(proceeds.usd) : "", printed(gross.local),
        back(printed(refunded.local)), printed(gross.local - refunded.local),
        isRateKnown ? printed(proceeds.local) : "",
      ]
    }
  }

  private var rows: [Row: Sums] = [:]

  /// Books the charges and refunds of a life.
  mutating func add(_ life: Life, span: Span) {
    guard life.person.environment == .production else { return }
    let reported = life.reported
    let paid = reported.subscriptions.flatMap { $0.periods.map(\.charge) }
    for charge in paid + reported.purchases + reported.unchained
    where charge.time >= span.start && charge.isBooked {
      add(charge, of: life.person, reported.basis)
    }
  }

  private mutating func add(_ charge: Charge, of person: Person, _ basis: AmountBasis) {
    let row = row(charge, at: charge.time, of: person, basis)
    rows[row, default: Sums()].charges += 1
    rows[row, default: Sums()].gross.add(charge.gross, 1)
    rows[row, default: Sums()].proceeds.add(charge.proceeds, 1)
    guard let refund = charge.refund else { return }
    let back = charge.amounts(of: refund)
    let later = self.row(charge, at: refund.time, of: person, basis)
    rows[later, default: Sums()].refunds += 1
    rows[later, default: Sums()].refunded.add(back.gross, 1)
    rows[later, default: Sums()].proceeds.add(back.proceeds, -1)
  }

  /// Only Qonversion names a country; prices that nobody sends are the list's, in US dollars.
  private func row(
    _ charge: Charge, at time: Int64, of person: Person, _ basis: AmountBasis
  ) -> Row {
    Row(
      shopMonth: ShopMonth(
        month: civilMonth(of: time), shop: person.shop, product: charge.product),
      kind: charge.kind,
      country: person.shop.provider == .qonversion ? person.market.country : "",
      storefront: person.storefront,
      currency: basis == .provider ? person.market.currency : Market.all[0].currency,
      rate: charge.rate, basis: basis)
  }

  /// `revenue_monthly.csv` as it must be when nothing is lost.
  func table(_ horizons: [Shop: Horizon]) -> TruthTable {
    var table = TruthTable(
      name: "revenue_monthly.csv",
      key: TruthTable.shopKey + [
        "product_type", "charge_kind", "country", "storefront", "currency", "proceeds_rate",
        "amount_basis",
      ],
      measures: [
        "charges", "refunds", "gross_usd", "refunds_usd", "net_usd", "commission_usd",
        "proceeds_usd", "gross_local", "refunds_local", "net_local", "proceeds_local",
        "is_complete",
      ])
    for (row, sums) in rows {
      let type = row.kind == .oneTime ? ProductType.oneTime : .subscription
      let shop = row.shopMonth.shop
      let isComplete = horizons[shop]?
        .isComplete(row.shopMonth.month, slack: shop.provider.deliveryWindow)
      let isRateKnown = row.rate != Charge.unknownRate
      table.add(
        key: row.shopMonth.key + [
          type.name, row.kind.name, row.country, row.storefront, row.currency,
          isRateKnown ? String(row.rate) : "", row.basis.name,
        ],
        measures: sums.measures(
          isRateKnown: isRateKnown, tellsRefunds: shop.provider.tellsRefunds(of: type))
          + [printed(isComplete ?? false)])
    }
    return table
  }
}

extension Money {
  mutating func add(_ other: Money, _ sign: Int64) {
    local += sign * other.local
    usd += sign * other.usd
  }
}

extension Charge {
  /// What a refund of this charge takes back: all of it when it is whole, else what the provider
  /// sent, at the charge's own rate.
  func amounts(of refund: Refund) -> (gross: Money, proceeds: Money) {
    if refund.isWhole { return (gross, proceeds) }
    return sendsProceeds
      ? (refund.revenue.grossedUp(percent: rate), refund.revenue)
      : (refund.revenue, refund.revenue.share(percent: rate))
  }
}
