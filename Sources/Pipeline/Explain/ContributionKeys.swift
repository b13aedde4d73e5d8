import Subscriptions
import Domain

/// The keys of a cell to which a subscription contributes, as reports print them.
struct ContributionKeys {
  private(set) var texts: [String: String] = [:]
  /// The day of the cell, or the first day of its month; nil for cohorts.
  let day: Day?
  private(set) var retention: RetentionKey?

  /// - Parameter words: the ledger's texts by their symbols.
  init(_ cell: Contribution.Cell, words: [String]) {
    func word(_ symbol: StringID) -> String { words[Int(symbol)] }
    let product: ProductKey?
    switch cell {
    case .revenue(let key, _):
      (product, day) = (key.productKey, key.day)
      texts = [
        "product_type": key.productType.name, "charge_kind": key.chargeKind.name,
        "country": word(key.country), "storefront": word(key.storefront),
        "currency": word(key.currency), "proceeds_rate": key.rate?.text(decimalsMin: 0) ?? "",
        "amount_basis": key.basis.name,
      ]
    case .movement(let key, _): (product, day) = (key.productKey, key.month.firstDay)
    case .renewal(let key, _):
      (product, day) = (key.productKey, key.month.firstDay)
      texts = ["renewal_ordinal": key.ordinal.map(String.init) ?? ""]
    case .trial(let key, _): (product, day) = (key.productKey, key.day)
    case .retention(let key, _):
      (product, day, retention) = (key.productKey, nil, key)
      texts = ["cohort": key.cohort.text]
    case .excluded(let key, _):
      (product, day) = (nil, key.day)
      texts = [
        "provider": key.feed.provider.name, "app_id": word(key.feed.app),
        "reason": key.reason.name,
      ]
    case .arrival(let key, _):
      (product, day) = (nil, key.day)
      texts = ["provider": key.provider.name, "kind": key.kind.name]
    case .gap(let key, _): (product, day) = (nil, key.day)
    }
    if let product {
      texts["provider"] = product.provider.name
      texts["app_id"] = word(product.app)
      texts["store"] = product.store.name
      texts["product_id"] = word(product.product)
    }
  }
}

extension Contribution.Cell {
  var step: String {
    switch self {
    case .revenue(let key, let sums):
      "\(sums.refunds > 0 ? "refund" : "charge") (\(key.chargeKind.name))"
    case .movement(let key, let sums):
      key.movement == .autoRenewOff && sums.subscriptions < 0
        ? "auto_renew_off ends" : key.movement.name
    case .renewal(let key, let sums):
      "renewal\(key.ordinal.map { " \($0)" } ?? "")\(sums.refunded > 0 ? " refunded" : "")"
    case .trial(_, let sums):
      sums.converted > 0
        ? "trial, converted" : sums.expired > 0 ? "trial, expired" : "trial, pending"
    case .retention(let key, let sums):
      if sums.joined > 0 {
        "joined the cohort"
      } else if sums.activeChange != 0 {
        sums.activeChange > 0 ? "active from month \(key.index)" : "ended in month \(key.index)"
      } else {
        "booked in month \(key.index)"
      }
    case .excluded(let key, let sums):
      "excluded \(sums.charges > 0 ? "charge" : "event") (\(key.reason.name))"
    case .arrival(_, let sums):
      [sums.outOfOrder > 0 ? "out_of_order" : nil, sums.late > 0 ? "late" : nil]
        .compactMap(\.self).joined(separator: ", ")
    case .gap(let key, _): key.gap.name
    }
  }
}
