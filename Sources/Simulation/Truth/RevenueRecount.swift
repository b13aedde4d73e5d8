import Domain

/// Recounts bookings, charge by charge.
struct RevenueRecount {
  private var table = TruthTable(
    name: "revenue_monthly.csv",
    more: [
      "product_type", "charge_kind", "country", "storefront", "currency", "proceeds_rate",
      "amount_basis",
    ],
    measures: [
      "charges", "refunds", "gross_usd", "refunds_usd", "net_usd", "commission_usd",
      "proceeds_usd", "gross_local", "refunds_local", "net_local", "proceeds_local",
    ], format: printed, slack: 0)

  mutating func add(_ customer: CustomerSimulation) {
    let history = customer.expectedHistory
    let paid = history.subscriptions.flatMap { $0.periods.map(\.charge) }
    for charge in paid + history.purchases + history.unchained
    where charge.time >= customer.span.start {
      add(charge, of: customer.person, history.basis)
    }
  }

  private mutating func add(_ charge: Charge, of person: Person, _ basis: AmountBasis) {
    var row = row(charge, of: person, basis)
    table.add(1, to: "charges", of: row)
    add(charge.gross, to: "gross", of: row)
    add(charge.proceeds, to: "proceeds", of: row)
    guard let refund = charge.refund else { return }
    let back = charge.amounts(of: refund)
    row.month = civilMonth(of: refund.time)
    table.add(1, to: "refunds", of: row)
    add(back.gross, to: "refunds", of: row)
    add(-back.proceeds, to: "proceeds", of: row)
  }

  private mutating func add(_ money: Money, to measure: String, of row: TruthRow) {
    table.add(money.usd, to: "\(measure)_usd", of: row)
    table.add(money.local, to: "\(measure)_local", of: row)
  }

  /// Prices that are not sent are taken from the list, in US dollars.
  private func row(_ charge: Charge, of person: Person, _ basis: AmountBasis) -> TruthRow {
    let type = charge.kind == .oneTime ? ProductType.oneTime : .subscription
    return TruthRow(
      month: civilMonth(of: charge.time), shop: person.shop, product: charge.product,
      more: [
        type.name, charge.kind.name, person.shop.sender.isDetailed ? person.market.country : "",
        person.hasStorefront ? person.market.storefront : "",
        basis == .provider ? person.market.currency : Market.all[0].currency,
        charge.rate == Charge.unknownRate ? "" : String(charge.rate), basis.name,
      ])
  }

  /// Name and content of the file; proceeds are empty if the rate is unknown, refunds if they are
  /// never sent.
  func file(_ completeness: [Shop: Completeness]) -> (name: String, text: String) {
    table.file(completeness) { row, sum in
      let net = sum("gross_usd") - sum("refunds_usd")
      var cells = [
        "charges": String(sum("charges")), "refunds": String(sum("refunds")),
        "net_usd": printed(net), "commission_usd": printed(net - sum("proceeds_usd")),
        "net_local": printed(sum("gross_local") - sum("refunds_local")),
      ]
      if row.more[5].isEmpty {
        for name in ["commission_usd", "proceeds_usd", "proceeds_local"] { cells[name] = "" }
      }
      let type: ProductType = row.more[0] == ProductType.oneTime.name ? .oneTime : .subscription
      if sum("refunds") == 0, !row.shop.sender.sendsRefunds(type) {
        for name in ["refunds", "refunds_usd", "refunds_local"] { cells[name] = "" }
      }
      return cells
    }
  }
}

extension Charge {
  /// The amounts of a refund of this charge: the whole charge, or the sent amount at the charge's
  /// own rate.
  func amounts(of refund: Refund) -> (gross: Money, proceeds: Money) {
    if refund.isWhole { return (gross, proceeds) }
    return sendsProceeds
      ? (refund.revenue.scaled(100, rate), refund.revenue)
      : (refund.revenue, refund.revenue.scaled(rate, 100))
  }
}
