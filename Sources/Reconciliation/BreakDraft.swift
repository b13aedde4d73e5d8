public import Domain

extension BreakCode {
  /// The part of a break id besides the lineage: codes that can name one loss share a family, so
  /// that the id stays the same when later input changes the code.
  var family: String { isCharge ? Self.charges : rawValue }

  /// A missing charge; after an end that nothing followed, possibly an expiry instead.
  static let charges = "MISSED_CHARGE"
}

/// What distinguishes a break from others of its family in the lineage.
enum BreakKey {
  /// A transaction by its id.
  case transaction(String)
  /// A charge by its number in the subscription.
  case charge(Int64)
  /// The first charge or trial, before any reported one.
  case start
  /// Something without other identification, by when it was due or happened.
  case after(Instant)
  /// A period by when it was charged; nil before the first charge.
  case period(Instant?)
  /// A product by its id, as the snapshot writes it.
  case product(String)
  /// An event by its identity.
  case event(Int64)
  /// A UTC day.
  case day(Day)
  case active, environment, snapshot, state, user

  /// The text in the id; it never changes, because ids would.
  var text: String {
    switch self {
    case .transaction(let id): "transaction " + id
    case .charge(let number): "charge \(number)"
    case .after(let instant): "after \(instant.milliseconds)"
    case .period(let charged): "period \(charged?.milliseconds ?? 0)"
    case .product(let id): "product " + id
    case .event(let identity): "event \(identity)"
    case .day(let day): "day \(day.number)"
    case .start, .active, .environment, .snapshot, .state, .user: "\(self)"
    }
  }
}

/// The subscription or purchase that a break is about, as texts.
struct BreakSubject: Equatable {
  var provider: Provider
  var app = ""
  var environment = Environment.production
  var store = Store.unknown
  var user = ""
  /// Original transaction id.
  var original = ""
  /// Store product id.
  var product = ""

  var lineage: LineageName { LineageName(app: app, store: store, original: original) }
}

/// An amount in US dollars with its basis.
typealias Worth = (amount: Amount?, basis: AmountBasis)

let nothing: Worth = (.zero, .provider)

/// A charge or trial start that must have happened but did not arrive.
struct MissingCharge {
  var code: BreakCode
  /// Business time; nil when unknown.
  var at: Instant?
  /// End of the paid period, when known.
  var end: Instant?
  var count: Int64 = 1
  var isFree = false
  /// Whether it is the first payment of the lineage, from which counting begins.
  var opensLineage = false
  var breakID: String?

  /// Whether renewal counters count it, unless it is a first charge.
  var isCounted: Bool { !isFree && code != .missedPurchase }
}

/// A break before its id, status and severity are determined.
struct BreakDraft {
  var code: BreakCode
  var subject: BreakSubject
  /// Replaces the code's own family if one loss can have any of several codes.
  var family: String?
  /// For a charge, set by `numbered`.
  var key = BreakKey.charge(0)
  var transaction = ""
  /// Business time of the missing or doubtful event; nil if unknown.
  var expectedAt: Instant?
  /// When the access that only one side shows ends.
  var accessEnd: Instant?
  /// How many events are missing if the code is of a missing event.
  var missingEvents: Int64 = 1
  /// How many of these another provider reports, which counts.
  var reportedElsewhere: Int64 = 0
  var worth = Worth(nil, .none)
  /// Whether events prove it, which are known until as-of: a snapshot shows only its capture time.
  var isProvenByEvents = false
  /// Whether it only reports what may be missing: nothing counts, and it is resolved at once.
  var isInformational = false
  /// The severity, if not that of the code.
  var severity: Severity?
  var evidence: String

  func finished(knownAt: Instant, _ rules: ReconciliationSettings) -> Break {
    var found = Break(id: id, code: code, provider: subject.provider)
    found.app = subject.app
    found.environment = subject.environment
    found.store = subject.store
    found.user = subject.user
    found.subscription = subject.original
    found.transaction = transaction
    found.product = subject.product
    found.expectedAt = expectedAt
    found.accessEnd = accessEnd
    found.missingEvents = code.isMissing ? missingEvents : 0
    found.reportedElsewhere = reportedElsewhere
    found.estimatedUSD = worth.amount
    found.basis = worth.amount == nil ? .none : worth.basis
    found.severity = severity ?? code.severity ?? rules.severities.severity(of: worth.amount)
    found.evidence = evidence
    found.action = code.action(at: subject.provider)
    if isInformational {
      (found.status, found.severity, found.missingEvents) = (.resolved, .info, 0)
    }
    guard let expectedAt, !isInformational else { return found }
    let feeds = rules.feeds(of: subject)
    let window =
      feeds.map { rules.fold.settlingWindow(of: $0.feed) }.max()
      ?? rules.fold.deliveryWindow(subject.provider)
    let settlesAt = expectedAt + window
    let watermark = feeds.map(\.newest).max() ?? knownAt
    found.settlesAt = settlesAt
    found.status = settlesAt <= min(knownAt, watermark) ? .open : .pending
    found.evidenceExpiresAt = subject.provider.interface.recordsKept.map { expectedAt + $0 }
    return found
  }

  var id: String { BreakIDs(family ?? code.family, subject).id(of: key) }
}

extension Break {
  /// The ids that only the transaction of a missing charge would give it, now and before its app
  /// was known, which decisions may contain; none for other breaks and while it is unknown.
  public var idsOfTransaction: [String] {
    guard code.isCharge, !transaction.isEmpty else { return [] }
    let isFirst = transaction == subscription
    return [ids(in: app), ids(in: "")].flatMap { ids in
      [ids.id(of: .transaction(transaction))] + (isFirst ? [ids.id(of: .start)] : [])
    }
  }

  var subject: BreakSubject {
    BreakSubject(
      provider: provider, app: app, environment: environment, store: store, user: user,
      original: subscription, product: product)
  }

  private func ids(in app: String) -> BreakIDs {
    var subject = subject
    subject.app = app
    return BreakIDs(code.family, subject)
  }

  /// The ids that a break of several charges, up to 1,000, gets as its first charges arrive.
  public var idsOfLaterCharges: [String] {
    guard code.isCharge, missingEvents > 1 else { return [] }
    let ids = ids(in: app)
    let first = (-1...Int64(10_000)).first { ids.id(of: .charge($0)) == id }
    guard let first else { return [] }
    return (first + 1..<first + min(missingEvents, 1_000)).map { ids.id(of: .charge($0)) }
  }
}

/// The id of a gap in the feed of one app, or of all apps of a provider.
///
/// The hours of a gap can become a whole day, which keeps the id.
public func feedGapID(
  _ gap: FeedGap, provider: Provider, app: String, isWholeProvider: Bool
) -> String {
  var subject = BreakSubject(provider: provider, app: app)
  if isWholeProvider { subject.user = "all apps" }
  return BreakIDs(BreakCode.feedGap.family, subject).id(
    of: gap.isFirstOfDay ? .day(gap.firstDay) : .after(Instant(hour: gap.hours.lowerBound)))
}

/// The ids of a family's breaks in one lineage, by what distinguishes them.
struct BreakIDs {
  /// The fingerprint of all parts before the key.
  private var start = Fingerprint(seed: 2)

  init(_ family: String, _ subject: BreakSubject) {
    start.combine(family)
    start.combine(subject.provider.name)
    start.combine(subject.app)
    start.combine(subject.environment.name)
    start.combine(subject.original.isEmpty ? "user " + subject.user : subject.original)
  }

  func id(of key: BreakKey) -> String {
    var fingerprint = start
    fingerprint.combine(key.text)
    return fingerprint.breakID
  }
}
