internal import EventStore
internal import Domain

/// Counts of what is missing or estimated in the data of one feed; see coverage_counts.sql.
struct CoverageCounts: Equatable {
  var charges: Int64 = 0
  var subscriptionCharges: Int64 = 0
  /// Charges whose amount in US dollars is from the price book.
  var listedAmounts: Int64 = 0
  /// Charges without an amount in US dollars.
  var withoutUSD: Int64 = 0
  /// Of both, those of subscriptions.
  var listedSubscriptions: Int64 = 0
  var subscriptionsWithoutUSD: Int64 = 0
  /// Of these, those at an offer that the price book does not list.
  var unlistedOffers: Int64 = 0
  var withoutTransaction: Int64 = 0
  var bookings: Int64 = 0
  /// Of these, those whose proceeds follow from a rate of the price book.
  var listedRates: Int64 = 0
  /// Of these, those whose proceeds after commission are unknown.
  var withoutProceeds: Int64 = 0
  var withoutCountry: Int64 = 0
  var withoutStorefront: Int64 = 0
  var renewals: Int64 = 0
  var withoutOrdinal: Int64 = 0
  /// Churned subscriptions without a known reason.
  var withoutReason: Int64 = 0
  /// Charges that cannot be chained to a subscription.
  var unchained: Int64 = 0
  /// Paid periods whose end is unknown.
  var openEnded: Int64 = 0
  /// Paid periods whose end is computed from a configured or listed length.
  var derivedEnds: Int64 = 0
  /// Events of the provider that report only a state.
  var states: Int64 = 0
  /// Events of the provider that report a change.
  var reported: Int64 = 0
  var hasSnapshots = false
  /// Whether another provider can report the same transactions.
  var hasOtherProviders = false

  init(_ row: Statement) {
    let counts: [WritableKeyPath<CoverageCounts, Int64>] = [
      \.charges, \.subscriptionCharges, \.listedAmounts, \.withoutUSD, \.listedSubscriptions,
      \.subscriptionsWithoutUSD, \.bookings, \.listedRates, \.withoutProceeds, \.withoutCountry,
      \.withoutStorefront, \.renewals, \.withoutOrdinal, \.withoutReason, \.states, \.reported,
      \.unchained, \.openEnded, \.derivedEnds, \.unlistedOffers, \.withoutTransaction,
    ]
    for (column, count) in counts.enumerated() {
      self[keyPath: count] = row.number(Int32(column + 2))
    }
    hasSnapshots = row.number(Int32(counts.count + 2)) != 0
    hasOtherProviders = row.number(Int32(counts.count + 3)) != 0
  }

  /// The coverage of `metric` in this data of a feed of `provider`.
  func statement(_ metric: CoverageMetric, _ provider: Provider) -> CoverageStatement {
    // Collections of iaptic's first years give no reason for a delivery.
    let isStatesOnly = provider.capabilities.body == .collection && states > 0 && reported == 0
    let reported =
      isStatesOnly ? provider.collectionCoverage(metric) : provider.declaredCoverage(metric)
    return switch metric {
    case .revenueUSD: amounts(of: charges, listed: listedAmounts, withoutUSD)
    case .proceeds: proceeds
    case .mrr: mrr
    case .churn, .retention: chained(ends)
    case .renewals: chained(reported)
    case .renewalOrdinal: ordinals
    case .churnReason: reasons(reported)
    case .country: dimension("country", withoutCountry)
    case .storefront: dimension("storefront", withoutStorefront)
    case .missingEvents: missingEvents(provider)
    case .refunds, .refundsOneTime, .autoRenewOff, .pauses, .productChange, .trials, .sandbox:
      reported
    }
  }

  private func amounts(
    of charges: Int64, listed: Int64, _ withoutUSD: Int64
  ) -> CoverageStatement {
    let unlisted = "offers that the price book does not list: \(counted(unlistedOffers, "charge"))"
    let unnamed = hasOtherProviders ? min(withoutTransaction, charges) : 0
    // A charge without transaction can also be listed, or without amount.
    let estimated = min(max(listed, unnamed), charges - withoutUSD)
    return judged(
      [
        share("amount of the price book", listed, of: charges),
        share("no amount in US dollars", withoutUSD, of: charges),
        unlistedOffers > 0 ? unlisted : nil,
        share(
          "no transaction, so that another provider's charge may count beside it", unnamed,
          of: charges),
      ], missing: withoutUSD, estimated: estimated, of: charges,
      measured: "every charge has its amount")
  }

  private var proceeds: CoverageStatement {
    judged(
      [
        share("rate of the price book", listedRates, of: bookings, "charges and refunds"),
        share("no amount or no rate", withoutProceeds, of: bookings, "charges and refunds"),
      ], missing: withoutProceeds, estimated: listedRates, of: bookings,
      measured: "every charge has its rate")
  }

  private var mrr: CoverageStatement {
    let amounts = amounts(
      of: subscriptionCharges, listed: listedSubscriptions, subscriptionsWithoutUSD)
    let lengths = chained(ends)
    guard amounts.coverage != .notAvailable else { return amounts }
    guard lengths.coverage != .notAvailable, amounts.coverage != .measured else { return lengths }
    guard lengths.coverage == .estimated else { return amounts }
    let events = max(amounts.events ?? 0, lengths.events ?? 0)
    return .estimated(events, "\(amounts.why); \(lengths.why)")
  }

  /// How reliably the ends of paid periods are known.
  private var ends: CoverageStatement {
    let reasons = [
      derivedEnds > 0 ? "paid periods as long as configured or listed: \(derivedEnds)" : nil,
      openEnded > 0 ? "paid periods without end until an event reports it: \(openEnded)" : nil,
    ].compactMap(\.self)
    guard !reasons.isEmpty else { return .measured("the ends of paid periods are sent") }
    return .estimated(derivedEnds + openEnded, reasons.joined(separator: "; "))
  }

  private func chained(_ statement: CoverageStatement) -> CoverageStatement {
    guard unchained > 0 else { return statement }
    let why =
      "left out, because no id links them to a subscription: \(counted(unchained, "charge"))"
    if unchained >= subscriptionCharges { return .notAvailable(unchained, why) }
    guard statement.coverage == .estimated else { return .estimated(unchained, why) }
    return .estimated(
      statement.events.map { $0 + unchained }, "\(statement.why); \(why)")
  }

  private var ordinals: CoverageStatement {
    let (missing, all) = (withoutOrdinal + unchained, renewals + unchained)
    return judged(
      [share("start not seen", missing, of: all, "renewals")], missing: missing, of: all,
      measured: "renewals are counted from the start of each subscription")
  }

  private func reasons(_ reported: CoverageStatement) -> CoverageStatement {
    var statement = reported
    statement.events = withoutReason
    if withoutReason > 0 { statement.why += "; ends without a reason: \(withoutReason)" }
    return statement
  }

  private func dimension(_ name: String, _ missing: Int64) -> CoverageStatement {
    judged(
      [share("without \(name)", missing, of: charges)], missing: missing, of: charges,
      measured: "every charge has its \(name)")
  }

  private func missingEvents(_ provider: Provider) -> CoverageStatement {
    if hasSnapshots { return .measured("events are compared with snapshots") }
    let shown = "without snapshots only other events show which are missing"
    return .estimated(
      nil,
      provider.capabilities.announcesLateUploads
        ? shown
        : shown + "; a purchase that is uploaded more than 10 minutes later is never announced")
  }

  /// A reason with the number of rows that it concerns; nil for none.
  private func share(
    _ reason: String, _ count: Int64, of all: Int64, _ rows: String = "charges"
  ) -> String? {
    count > 0 ? "\(reason): \(count) of \(all) \(rows)" : nil
  }

  /// Not available when all is missing, estimated when some is missing or estimated.
  private func judged(
    _ reasons: [String?], missing: Int64, estimated: Int64 = 0, of all: Int64, measured: String
  ) -> CoverageStatement {
    guard missing + estimated > 0 else {
      return .measured(all == 0 ? "there are no such events yet" : measured)
    }
    let why = reasons.compactMap(\.self).joined(separator: "; ")
    return missing >= all
      ? .notAvailable(missing, why) : .estimated(missing + estimated, why)
  }
}
