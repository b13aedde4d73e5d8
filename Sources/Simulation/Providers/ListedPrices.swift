import Domain

/// The operator's price book: prices of charges whose provider sends no money.
///
/// Such providers send neither country nor currency, so one price applies to everyone: that of the
/// first market, in US dollars.
struct ListedPrices: Sendable {
  let span: TimeSpan

  /// The date from which prices are listed, before any charge of the scenario.
  private static let begin = Day(year: 2020, month: 1, day: 1)

  /// The charge at its listed price, including refunds.
  func priced(_ charge: Charge, in shop: Shop) -> Charge {
    var listed = charge
    let hasRisen = charge.time >= span.priceRise
    let local = Market.all[0].listPrice(of: charge.product, hasRisen: hasRisen)
    (listed.gross, listed.rate) = (Money(local: local, usd: local), rate(in: shop))
    listed.sendsProceeds = false
    return listed
  }

  /// One rate per shop: that of a subscription's first year.
  private func rate(in shop: Shop) -> Int64 { shop.proceedsRate(at: 0, paidSince: 0) }

  /// The whole file, in the columns of `--prices`.
  var text: String {
    var text =
      "store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,period\n"
    for app in App.allCases {
      for index in App.stores.indices {
        for provider in [Provider.qonversion, .flobuk] {
          let shop = Shop(app: app, storeIndex: index, provider: provider)
          guard provider == .qonversion || shop.reportedStore != shop.store else { continue }
          for product in Product.allCases { text += lines(product, shop) }
        }
      }
    }
    return text
  }

  private func lines(_ product: Product, _ shop: Shop) -> String {
    let begins = product == .monthly ? [false, true] : [false]
    return begins.map { hasRisen in
      let from = hasRisen ? civilDay(of: span.priceRise).text : Self.begin.text
      return Market.all.enumerated().map { index, market in
        let local = market.listPrice(of: product, hasRisen: hasRisen)
        let start = hasRisen ? span.priceRise : Int64(Self.begin.number) * day
        return [
          shop.reportedStore.name, shop.app.storeID(of: product),
          index == 0 ? "" : market.country, market.currency, from, printed(local),
          printed(market.money(local, at: start).usd), String(rate(in: shop)),
          product.isoPeriod ?? "",
        ].joined(separator: ",") + "\n"
      }.joined()
    }.joined()
  }
}
