import Subscriptions
import Domain

/// What `coverage.csv` counts, metric by metric, as single events.
enum CoverageAtom: String {
  case listed = "amount_of_price_book"
  case withoutUSD = "no_usd"
  case withoutProceeds = "no_proceeds"
  case withoutCountry = "no_country"
  case withoutStorefront = "no_storefront"
  case withoutOrdinal = "no_ordinal"
  case withoutReason = "no_reason"
  case unchained = "not_chained"
  case openEnded = "open_ended"
  case derivedEnd = "derived_end"

  /// What may make up the events of a metric, the likeliest first: a metric that is missing
  /// altogether counts no estimates, and that of MRR is the larger of two counts.
  static func sets(of metric: String) -> [[CoverageAtom]] {
    switch metric {
    case "revenue_usd": [[.withoutUSD, .listed], [.withoutUSD]]
    case "proceeds": [[.withoutProceeds, .listed], [.withoutProceeds]]
    case "mrr":
      [
        [.withoutUSD, .listed], [.withoutUSD], [.derivedEnd, .openEnded, .unchained], [.unchained],
      ]
    case "churn", "retention": [[.derivedEnd, .openEnded, .unchained], [.unchained]]
    case "renewals": [[.unchained]]
    case "renewal_ordinal": [[.withoutOrdinal, .unchained]]
    case "churn_reason": [[.withoutReason]]
    case "country": [[.withoutCountry]]
    case "storefront": [[.withoutStorefront]]
    default: []
    }
  }

  static func atoms(of cell: Contribution.Cell) -> [CoverageAtom] {
    switch cell {
    case .revenue(let key, let sums):
      let missing: [CoverageAtom?] = [
        sums.grossUSD.unknown > 0 ? .withoutUSD : nil,
        sums.proceedsUSD.unknown > 0 ? .withoutProceeds : nil,
      ]
      guard sums.charges > 0 else { return missing.compactMap(\.self) }
      let open: [CoverageAtom?] = [
        key.basis == .priceBook ? .listed : nil, key.country == 0 ? .withoutCountry : nil,
        key.storefront == 0 ? .withoutStorefront : nil,
      ]
      return (missing + open).compactMap(\.self)
    case .renewal(let key, let sums):
      return key.ordinal == nil && sums.renewals > 0 ? [.withoutOrdinal] : []
    case .movement(let key, let sums):
      return key.movement == .churnedUnknown && sums.subscriptions > 0 ? [.withoutReason] : []
    case .gap(let key, _):
      switch key.gap {
      case .unchainedCharge: return [.unchained]
      case .openEndedPeriod: return [.openEnded]
      case .derivedEnd: return [.derivedEnd]
      case .chargeWithoutAmount, .offerWithoutPrice, .chargeFromPriceBook,
        .chargeWithoutTransaction, .arrival:
        return []
      }
    default: return []
    }
  }
}
