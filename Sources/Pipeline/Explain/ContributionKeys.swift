import Reports
import Subscriptions
import Domain

/// The keys of the cell that a share is part of, as reports print them.
struct ContributionKeys {
  let cell: Contribution.Cell
  /// The ledger's words by their symbols.
  let words: [String]

  /// The key in `column`; nil when the cell has none such.
  func text(_ column: KeyColumn) -> String? {
    switch column {
    case .provider: productKey?.provider.name ?? provider?.name
    case .app: app.map(word)
    case .store: productKey?.store.name
    case .product: productKey.map { word($0.product) }
    case .productType: revenue?.productType.name
    case .chargeKind: revenue?.chargeKind.name
    case .country: revenue.map { word($0.country) }
    case .storefront: revenue.map { word($0.storefront) }
    case .currency: revenue.map { word($0.currency) }
    case .rate: revenue.map { $0.rate?.text(decimalsMin: 0) ?? "" }
    case .basis: revenue?.basis.name
    case .ordinal:
      if case .renewal(let key, _) = cell { key.ordinal.map(String.init) ?? "" } else { nil }
    case .cohort: if case .retention(let key, _) = cell { key.cohort.text } else { nil }
    case .reason: if case .excluded(let key, _) = cell { key.reason.name } else { nil }
    case .kind: if case .arrival(let key, _) = cell { key.kind.name } else { nil }
    case .period, .day, .periodIndex, .metric: nil
    }
  }

  /// The day of the cell, or the first of its month; nil for cohorts.
  var day: Day? {
    switch cell {
    case .revenue(let key, _): key.day
    case .movement(let key, _): key.month.firstDay
    case .renewal(let key, _): key.month.firstDay
    case .trial(let key, _): key.day
    case .excluded(let key, _): key.day
    case .arrival(let key, _): key.day
    case .gap(let key, _): key.day
    case .retention: nil
    }
  }

  private func word(_ symbol: StringID) -> String { words[Int(symbol)] }

  private var revenue: RevenueKey? { if case .revenue(let key, _) = cell { key } else { nil } }

  private var productKey: ProductKey? {
    switch cell {
    case .revenue(let key, _): key.productKey
    case .movement(let key, _): key.productKey
    case .renewal(let key, _): key.productKey
    case .trial(let key, _): key.productKey
    case .retention(let key, _): key.productKey
    case .excluded, .arrival, .gap: nil
    }
  }

  private var provider: Provider? {
    switch cell {
    case .excluded(let key, _): key.provider
    case .arrival(let key, _): key.provider
    case .gap(let key, _): key.provider
    default: nil
    }
  }

  private var app: StringID? {
    switch cell {
    case .excluded(let key, _): key.app
    case .gap(let key, _): key.app
    default: productKey?.app
    }
  }
}

extension Contribution.Cell {
  /// Its description.
  var step: String {
    switch self {
    case .revenue(let key, let sums):
      "\(sums.refunds > 0 ? "refund" : "charge") (\(key.chargeKind.name))"
    case .movement(let key, let sums):
      key.movement == .autoRenewOff && sums.subscriptions < 0
        ? "auto_renew_off ends" : key.movement.column
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
