import Domain

/// Writes what every user owns at the end of the scenario: once per shape of Qonversion, and once
/// for each other provider.
struct SnapshotWriter {
  /// The time that the SDKs' snapshots reflect.
  private let staleTime: Int64
  /// Files by the name of the shape or the provider.
  private var files: [String: GzipFile] = [:]

  init(_ folder: String, _ scenario: Scenario) throws(SubledgerError) {
    let span = scenario.span
    staleTime = span.end - Int64(scenario.staleDays) * day
    let shapes = scenario.senders.contains(.qonversion) ? SnapshotShape.allCases : []
    let others = scenario.senders.filter { $0 != .qonversion }.map(\.name)
    for name in shapes.map(\.rawValue) + others {
      let day = civilDay(of: span.end).text
      files[name] = try GzipFile(path: "\(folder)/\(name)/\(day).jsonl.gz")
    }
  }

  /// Adds the user of a customer as in the records of the customer's provider.
  mutating func add(_ customer: CustomerSimulation) throws(SubledgerError) {
    let provider = customer.person.shop.provider
    if !customer.occurrences.isEmpty, let line = provider.sender.snapshot(customer) {
      try files[provider.name]?.add(line)
    }
    guard provider == .qonversion else { return }
    let end = customer.span.end
    let holders = customer.holders(at: end)
    let isStale = staleTime < end
    let stale = isStale ? customer.known(at: staleTime).holders(at: staleTime) : holders
    for shape in SnapshotShape.allCases {
      let isOfSDK = shape == .sdk || shape == .sdkObject
      for holder in isOfSDK ? stale : holders where shape.shows(holder) {
        let line = SnapshotLine(shape: shape, holder: holder, time: end)
        try files[shape.rawValue]?.add(line.json)
      }
    }
  }

  func finish() throws(SubledgerError) {
    for file in files.values { try file.finish() }
  }
}

/// One store transaction of an entitlement.
struct HeldTransaction: Sendable {
  var charge: Charge
  var kind: SnapshotTransactionKind
  var at: Int64
  var expires: Int64?
}

struct Holding: Sendable {
  var access: Access
  var origin = GrantType.purchase
  /// Paid renewals so far.
  var renewals: Int32 = 0
  /// When auto-renew was seen to be off; nil while it is on.
  var autoRenewOffAt: Int64?
  /// Oldest first.
  var transactions: [HeldTransaction]
}

struct Holder: Sendable {
  var user: String
  var person: Person
  var holdings: [Holding]
  /// Purchases without lasting access.
  var consumables: [HeldTransaction] = []
}

extension Subscription {
  /// The access at `time` from the newest period.
  func state(at time: Int64) -> Access {
    guard let period = periods.last ?? trial, let first = periods.first ?? trial else {
      preconditionFailure("a subscription begins with a trial or a period")
    }
    let isOver = period.revokedAt != nil || period.hasExpired || period.gaveUpAt != nil
    return Access(
      isActive: time < period.effectiveEnd, started: first.start, until: period.effectiveEnd,
      state: period.state(isOver: isOver), isTrial: periods.isEmpty, product: period.product)
  }

  /// When auto-renew was last seen to be off, in the newest period.
  var autoRenewOffAt: Int64? {
    (periods.last ?? trial).flatMap { $0.gaveUpAt ?? $0.canceledAt }
  }

  /// Every transaction so far, oldest first.
  var transactions: [HeldTransaction] {
    let paid = periods.map { period in
      let isRenewal = period.charge.kind == .renewal
      return period.held(
        as: isRenewal ? period.charge.isOffer ? .introRenewed : .renewed : .started)
    }
    return (trial.map { [$0.held(as: .trialStarted)] } ?? []) + paid
  }
}

extension AccessPeriod {
  func held(as kind: SnapshotTransactionKind) -> HeldTransaction {
    HeldTransaction(charge: charge, kind: kind, at: start, expires: replacedAt ?? end)
  }
}

extension Charge {
  /// A one-time purchase as a snapshot lists it.
  var held: HeldTransaction { HeldTransaction(charge: self, kind: .oneTime, at: time) }
}

extension CustomerSimulation {
  /// Every user who appears in snapshots because of this customer.
  func holders(at time: Int64) -> [Holder] {
    guard !occurrences.isEmpty else { return [] }
    var owner = Holder(
      user: person.qonversionUser(account: account(at: .max)), person: person,
      holdings: holdings(at: time))
    owner.consumables = purchases.filter { $0.product.isConsumable }.map(\.held)
    if person.noise % 53 == 0 {
      // Access that the support team granted.
      let gift = Access(isActive: true, started: time - 20 * day, product: .lifetime)
      owner.holdings.append(Holding(access: gift, origin: .manual, transactions: []))
    }
    var holders = [owner]
    if transferredFrom != nil {
      holders.append(Holder(user: person.qonversionUser(account: 0), person: person, holdings: []))
    }
    if person.noise % 97 == 0, person.shop.store == .appStore,
      var shared = owner.holdings.first, shared.origin == .purchase
    {
      shared.origin = .familySharing
      holders.append(
        Holder(user: person.qonversionUser(account: 2), person: person, holdings: [shared]))
    }
    return holders
  }

  /// One entitlement for all subscriptions, in the state of the newest, and one for each lasting
  /// purchase.
  private func holdings(at time: Int64) -> [Holding] {
    let renewing = subscriptions.last.map { newest in
      Holding(
        access: newest.state(at: time),
        renewals: newest.periods.compactMap(\.charge.ordinal).max() ?? 0,
        autoRenewOffAt: newest.autoRenewOffAt, transactions: subscriptions.flatMap(\.transactions))
    }
    let lasting = purchases.filter { !$0.product.isConsumable }
    return [renewing].compactMap(\.self)
      + lasting.map { charge in
        Holding(
          access: Access(
            isActive: charge.wholeRefundAt == nil, started: charge.time,
            until: charge.wholeRefundAt, product: charge.product),
          transactions: [charge.held])
      }
  }
}

// A user's access over the course of the scenario, as every webhook of Qonversion contains it.

extension CustomerSimulation {
  /// The customer without events after `time`.
  func known(at time: Int64) -> CustomerSimulation {
    var known = self
    known.subscriptions = subscriptions.compactMap { whole in
      var cut = whole
      cut.trial = whole.trial?.known(at: time)
      cut.periods = whole.periods.filter { $0.charge.time <= time }.map { $0.known(at: time) }
      return (whole.trial?.start ?? whole.periods.first?.charge.time ?? .max) <= time ? cut : nil
    }
    known.purchases = purchases.filter { $0.time <= time }.map { $0.known(at: time) }
    return known
  }

  /// The entitlements at `time`, from the events until then.
  func owned(at time: Int64) -> [Access] {
    // No webhook contains refunded one-time purchases.
    known(at: time).holdings(at: time).map(\.access)
      .filter { $0.isActive || $0.state != .nonRenewable }
  }
}
