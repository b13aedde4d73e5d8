import Domain

/// Recounts bookings, charge by charge.
struct RevenueRecount {
  private struct Row: TruthRow {
    var shopMonth: ShopMonth
    var kind: ChargeKind
    var country: String
    var storefront: String
    var currency: String
    var rate: Int64
    var basis: AmountBasis

    static let columns =
      ShopMonth.columns + [
        "product_type", "charge_kind", "country", "storefront", "currency", "proceeds_rate",
        "amount_basis",
      ]

    var type: ProductType { kind == .oneTime ? .oneTime : .subscription }
    var isRateKnown: Bool { rate != Charge.unknownRate }

    var key: [String] {
      shopMonth.key + [
        type.name, kind.name, country, storefront, currency, isRateKnown ? String(rate) : "",
        basis.name,
      ]
    }
  }

  private var table = TruthTable<Row>(
    name: "revenue_monthly.csv",
    measures: [
      "charges", "refunds", "gross_usd", "refunds_usd", "net_usd", "commission_usd",
      "proceeds_usd", "gross_local", "refunds_local", "net_local", "proceeds_local",
      "is_complete",
    ], format: printed)

  /// Books the charges and refunds of a customer.
  mutating func add(_ customer: CustomerSimulation, span: TimeSpan) {
    guard customer.person.environment == .production else { return }
    let history = customer.expectedHistory
    let paid = history.subscriptions.flatMap { $0.periods.map(\.charge) }
    for charge in paid + history.purchases + history.unchained
    where charge.time >= span.start && charge.isBooked {
      add(charge, of: customer.person, history.basis)
    }
  }

  private mutating func add(_ charge: Charge, of person: Person, _ basis: AmountBasis) {
    let row = row(charge, at: charge.time, of: person, basis)
    table.add(1, to: "charges", of: row)
    add(charge.gross, to: "gross", of: row)
    add(charge.proceeds, to: "proceeds", of: row)
    guard let refund = charge.refund else { return }
    let back = charge.amounts(of: refund)
    let later = self.row(charge, at: refund.time, of: person, basis)
    table.add(1, to: "refunds", of: later)
    add(back.gross, to: "refunds", of: later)
    add(-back.proceeds, to: "proceeds", of: later)
  }

  private mutating func add(_ money: Money, to measure: String, of row: Row) {
    table.add(money.usd, to: "\(measure)_usd", of: row)
    table.add(money.local, to: "\(measure)_local", of: row)
  }

  /// Only Qonversion names a country; prices that are not sent come from the list, in US dollars.
  private func row(
    _ charge: Charge, at time: Int64, of person: Person, _ basis: AmountBasis
  ) -> Row {
    Row(
      shopMonth: ShopMonth(
        month: civilMonth(of: time), shop: person.shop, product: charge.product),
      kind: charge.kind,
      country: person.shop.provider == .qonversion ? person.market.country : "",
      storefront: person.hasStorefront ? person.market.storefront : "",
      currency: basis == .provider ? person.market.currency : Market.all[0].currency,
      rate: charge.rate, basis: basis)
  }

  /// Name and content of the file; empty is what stays after commission where no rate is known, and
  /// what goes back where that is never sent.
  func files(_ completeness: [Shop: Completeness]) -> [(name: String, text: String)] {
    let text = table.text { row, sum in
      let provider = row.shopMonth.shop.provider
      let net = sum("gross_usd") - sum("refunds_usd")
      var cells = [
        "charges": String(sum("charges")), "refunds": String(sum("refunds")),
        "net_usd": printed(net), "commission_usd": printed(net - sum("proceeds_usd")),
        "net_local": printed(sum("gross_local") - sum("refunds_local")),
        "is_complete": row.shopMonth.isComplete(completeness, slack: 0),
      ]
      if !row.isRateKnown {
        for name in ["commission_usd", "proceeds_usd", "proceeds_local"] { cells[name] = "" }
      }
      if sum("refunds") == 0, !provider.sendsRefunds(of: row.type) {
        for name in ["refunds", "refunds_usd", "refunds_local"] { cells[name] = "" }
      }
      return cells
    }
    return [(table.name, text)]
  }
}

extension Charge {
  /// The amount of a refund of this charge: all of it if whole, else the sent amount, at the
  /// charge's own rate.
  func amounts(of refund: Refund) -> (gross: Money, proceeds: Money) {
    if refund.isWhole { return (gross, proceeds) }
    return sendsProceeds
      ? (refund.revenue.grossedUp(percent: rate), refund.revenue)
      : (refund.revenue, refund.revenue.share(percent: rate))
  }
}
