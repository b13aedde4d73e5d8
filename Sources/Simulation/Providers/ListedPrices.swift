import Domain

// The operator's price book: prices of charges whose provider sends no money.
//
// Such providers send neither country nor currency, so one price applies to everyone: that of the
// first market, in US dollars.

extension CustomerSimulation {
  /// The charge at its listed price, including refunds.
  func listed(_ charge: Charge) -> Charge {
    var listed = charge
    let hasRisen = charge.time >= span.priceRise
    let local = Market.all[0].listPrice(of: charge.product, hasRisen: hasRisen)
    (listed.gross, listed.rate) = (Money(local: local, usd: local), person.shop.listedRate)
    listed.sendsProceeds = false
    return listed
  }
}

extension Shop {
  /// One rate per shop: that of a subscription's first year.
  var listedRate: Int64 { proceedsRate(at: 0, paidSince: 0) }
}

extension Scenario {
  /// The second from which prices are listed, before any charge of the scenario.
  private static let listedSince = Int64(Day(year: 2020, month: 1, day: 1).number) * day

  /// The price book, in the columns of `--prices`.
  var priceBook: String {
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
      let start = hasRisen ? span.priceRise : Self.listedSince
      return Market.all.enumerated().map { index, market in
        let local = market.listPrice(of: product, hasRisen: hasRisen)
        return [
          shop.reportedStore.name, shop.app.storeID(of: product),
          index == 0 ? "" : market.country, market.currency, civilDay(of: start).text,
          printed(local), printed(market.money(local, at: start).usd), String(shop.listedRate),
          product.isoPeriod ?? "",
        ].joined(separator: ",") + "\n"
      }.joined()
    }.joined()
  }
}
