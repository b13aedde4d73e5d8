import Subscriptions
import Domain

/// Compares one user's lineages with that user's current snapshot.
///
/// This is a pure function without I/O and clock; it returns the same breaks for every order of its
/// input. What events alone prove (gaps in their counters, refunds of missing charges, ends that
/// nothing followed) is found without a snapshot too.
///
/// - Parameters:
///   - user: the lineages, folded up to the earlier of as-of and `captured_at`, and the snapshot.
///   - checkStop: throws to stop; a user can have hundreds of thousands of lineages.
/// - Returns: the breaks, sorted by id, and the counts of deliberate omissions.
public func reconcile(
  _ user: ReconciliationInput, rules: ReconciliationSettings, checkStop: () throws -> Void
) rethrows -> ReconciliationResult {
  let user = Reconciler(user, rules: rules)
  try user.evaluate(Reconciler.checks, checkStop)
  return user.outcome
}

/// Compares a user's lineages with snapshots, then with a webhook's entitlements for active ends.
///
/// The webhook of a change can have been created before its entitlements change, and a repeated one
/// can contain later entitlements. So all events before as-of may explain what it shows, and what
/// it lacks proves nothing.
///
/// - Parameters:
///   - inputs: the lineages with each snapshot, or without any; whatever these show is explained.
///   - webhook: the lineages, folded up to as-of, and the webhook's snapshot.
///   - checkStop: throws to stop.
public func reconcile(
  _ inputs: [ReconciliationInput], webhook: ReconciliationInput, rules: ReconciliationSettings,
  checkStop: () throws -> Void
) rethrows -> ReconciliationResult {
  let users = try inputs.map { input in
    try checkStop()
    return Reconciler(input, rules: rules)
  }
  try checkStop()
  let sent = Reconciler(webhook, rules: rules)
  for user in users {
    user.adoptStarts(of: sent)
    try user.evaluate(Reconciler.snapshotChecks, checkStop)
    sent.adoptMissing(of: user)
  }
  try sent.evaluate(Reconciler.webhookChecks, checkStop)
  var result = ReconciliationResult()
  for user in users {
    user.adopt(sent)
    try user.evaluate([Reconciler.lastCheck], checkStop)
    result.add(user.outcome)
  }
  result.churnInDoubt.formUnion(sent.outcome.churnInDoubt)
  if sent.outcome.validUntil == nil { result.validUntil = nil }
  result.counts.merge(sent.counts.filter { $0.key == .unmatchedEntitlements }) { $0 + $1 }
  return result
}

/// The state of one user's reconciliation while its checks run.
///
/// Every check adds its missing events to `missing`; later checks treat these as reported, so that
/// one loss is one break.
final class Reconciler {
  let user: ReconciliationInput
  let rules: ReconciliationSettings
  /// Empty and of as-of when no snapshot names the user.
  let view: SnapshotView
  /// Production lineages in the order of their original ids.
  let lineages: [LineageInput]
  /// These and the production lineages whose events are all newer than the snapshot: the snapshot
  /// proves nothing about those, but their events may.
  let allLineages: [LineageInput]
  /// `allLineages` without those that another user's snapshot lists.
  private(set) lazy var ownLineages = allLineages.filter { !$0.isHeldByAnotherUser }
  /// Sandbox lineages; they only explain entitlements that the snapshot does not mark as sandbox.
  let sandbox: [LineageInput]
  private(set) var origins = EntitlementOrigins()
  /// What entitlements show about the lineages, in the order of the lineages.
  private(set) var matches: [EntitlementMatch] = []
  /// What events report about the listed transactions.
  private(set) lazy var reported = ReportedTransactions(allLineages, rules)
  /// `allLineages` by listed transactions.
  let named: LineageIndex
  /// For listed subscriptions that only one of their transactions identifies, the lineage's index.
  private lazy var homes = view.subscriptions.compactMapValues { listed in
    named.first(ofAny: listed.map(\.key) + [listed[0].originalKey])
  }
  private lazy var listed = Set(view.transactions.compactMap { lineage(of: $0)?.name })
  /// `allLineages` by name: a user can have hundreds of thousands.
  private(set) lazy var byName = Dictionary(
    allLineages.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  /// The lineages that a change of another lineage's product opened, as Play's new order does, by
  /// that product without its base plan, which not every change names.
  private(set) lazy var replacements = Dictionary(
    grouping: allLineages.filter { $0.changeThatOpens != nil },
    by: { lineage in
      let product = lineage.text(lineage.changeThatOpens?.previousProduct ?? 0)
      return product.withoutBasePlan ?? product
    })
  var storeProductsFound: [String: [String]?] = [:]
  /// When subscriptions began, according to a webhook's entitlements.
  private var startsInWebhook: [LineageName: Instant] = [:]
  /// Missing charges by the lineage that they belong to.
  private(set) var missing: [LineageName: [MissingCharge]] = [:]
  /// Lineages whose access a missing refund has revoked.
  var missedRefunds: Set<LineageName> = []
  private(set) var breaks: [String: Break] = [:]
  /// The times of charges that are missing here and counted as another provider reports them.
  var countedElsewhere: [LineageName: Set<Instant>] = [:]
  /// The time ranges of each lineage that missing events put in doubt.
  private var doubts: [LineageName: [Range<Instant>]] = [:]
  private(set) var counts: [ReconciliationCount: Int64] = [:]

  init(_ user: ReconciliationInput, rules: ReconciliationSettings) {
    self.user = user
    self.rules = rules
    let ordered = user.lineages.sorted {
      ($0.original, $0.state.lineage) < ($1.original, $1.state.lineage)
    }
    lineages = ordered.filter { $0.state.environment == .production }
    allLineages =
      lineages + user.newerLineages.filter { $0.state.environment == .production }
    sandbox = ordered.filter { $0.state.environment == .sandbox }
    let empty = Snapshot(
      provider: user.provider, user: user.user, capturedAt: rules.fold.asOf, entitlements: [])
    view = SnapshotView(
      user.snapshot ?? empty, sandbox: SandboxIDs(sandbox, besides: allLineages))
    named = LineageIndex(allLineages)
    counts = view.counts
    origins = findOrigins(user.newerLineages.isEmpty ? named : LineageIndex(lineages))
    matches = matchEntitlements()
    view.date { inferredDate(of: $0) }
  }

  func evaluate(_ checks: [ReconciliationCheck], _ checkStop: () throws -> Void) rethrows {
    for index in checks.indices {
      try checkStop()
      checks[index].evaluate(self)
    }
    try checkStop()
  }

  /// The lineage of a listed transaction: by its original id, by its own id, else by another
  /// transaction that the list assigns to the same subscription, because not every provider's
  /// events contain the original id.
  func lineage(of transaction: ListedTransaction) -> LineageInput? {
    let place = named.lineage(of: transaction) ?? homes[transaction.originalKey]
    return place.map { allLineages[$0] }
  }

  /// What the snapshot's entitlements show about a lineage.
  func match(of lineage: LineageInput) -> EntitlementMatch? {
    matches.first { $0.lineage.name == lineage.name }
  }

  /// Whether the snapshot lists a transaction of the lineage.
  func isListed(_ lineage: LineageInput) -> Bool { listed.contains(lineage.name) }

  /// The moment that the snapshot shows; as-of without a snapshot.
  var knownAt: Instant { min(rules.fold.asOf, view.capturedAt) }

  /// Whether a webhook contained the snapshot.
  var isOfWebhook: Bool { user.snapshot?.isOfWebhook ?? false }

  var outcome: ReconciliationResult {
    var outcome = ReconciliationResult()
    outcome.breaks = breaks.values.sorted { $0.id < $1.id }
    outcome.counts = counts
    for lineage in ownLineages {
      outcome.churnInDoubt.formUnion(lineage.churnInDoubt(doubts[lineage.name] ?? []))
    }
    // The text and the status of a break depend on as-of.
    outcome.validUntil =
      outcome.breaks.isEmpty && outcome.churnInDoubt.isEmpty ? validUntil : nil
    return outcome
  }

  /// Keeps a break, unless an earlier check raised the same id.
  ///
  /// - Parameter lineage: the lineage whose ends it puts in doubt, if that is not the break's own.
  func raise(_ draft: BreakDraft, in lineage: LineageName? = nil) {
    // What a webhook shows can be in a webhook of any time.
    let knownUntil = draft.isProvenByEvents || isOfWebhook ? rules.fold.asOf : knownAt
    let name = lineage ?? draft.subject.lineage
    var found = withoutCountedElsewhere(draft, name).finished(knownAt: knownUntil, rules)
    if let lineage = byName[name] {
      found.parts = lineage.parts
      found.periodLength = periodLength(of: draft, in: lineage)
    }
    // An end is in doubt within the gap of a missing event.
    if draft.code.isMissing, !draft.isInformational, let at = draft.expectedAt {
      doubts[name, default: []].append(at - gap..<at + gap)
    }
    if breaks[found.id] == nil { breaks[found.id] = found }
  }

  /// The length of the periods of the product of a break, else of the latest one.
  func periodLength(of draft: BreakDraft, in lineage: LineageInput) -> Interval {
    rules.length(of: draft.subject.product)?.mean ?? periodLength(lineage.latest) ?? .seconds(0)
  }

  /// Whether a snapshot or a webhook shows that the subscription began before `limit`.
  func shows(_ lineage: LineageInput, begunBefore limit: Instant) -> Bool {
    [match(of: lineage)?.firstStartedAt, startsInWebhook[lineage.name]].contains {
      $0.map { $0 < limit } ?? false
    }
  }

  /// Adopts the starts of subscriptions from a webhook of the same user.
  func adoptStarts(of webhook: Reconciler) {
    for match in webhook.matches { startsInWebhook[match.lineage.name] = match.firstStartedAt }
  }

  /// Adopts what another comparison of the same user found missing.
  func adoptMissing(of other: Reconciler) {
    missing.merge(other.missing) { $0 + $1 }
    missedRefunds.formUnion(other.missedRefunds)
  }

  /// Adds the breaks of another comparison of the same user, which treated this one's as found.
  func adopt(_ later: Reconciler) {
    missing = later.missing
    breaks.merge(later.breaks) { own, _ in own }
  }

  /// Raises a missing charge of the lineage `name` and remembers it for later checks.
  func raise(_ draft: BreakDraft, for charge: MissingCharge, of name: LineageName) {
    let draft = numbered(draft, of: name, isFree: charge.isFree)
    var charge = charge
    charge.breakID = draft.id
    expect(charge, of: name)
    // So is an end in the period that the charge paid for.
    if let at = charge.at, let end = charge.end, at < end {
      doubts[name, default: []].append(at..<end)
    }
    raise(draft, in: name)
  }

  /// Opens the pending breaks of missing charges that events prove, too: whatever the snapshot's
  /// age, no event can arrive once the window has passed.
  func confirm(_ charges: [MissingCharge]) {
    for id in charges.compactMap(\.breakID) {
      guard let found = breaks[id], found.status == .pending, let settlesAt = found.settlesAt
      else { continue }
      let watermark =
        rules.feeds(of: found.subject).map(\.newest).max() ?? rules.fold.asOf
      if settlesAt <= min(rules.fold.asOf, watermark) { breaks[id]?.status = .open }
    }
  }

  /// Raises a missing charge of `lineage` that paid until `end`.
  func raise(
    _ draft: BreakDraft, of lineage: LineageInput, until end: Instant? = nil, isFree: Bool = false,
    opensLineage: Bool = false
  ) {
    raise(
      draft,
      for: MissingCharge(
        code: draft.code, at: draft.expectedAt, end: end, count: draft.missingEvents,
        isFree: isFree, opensLineage: opensLineage), of: lineage.name)
  }

  /// Remembers a charge of the lineage `name` for later checks.
  func expect(_ charge: MissingCharge, of name: LineageName) {
    missing[name, default: []].append(charge)
  }

  /// What earlier checks found missing in a lineage, including free trials.
  func missing(in lineage: LineageInput) -> [MissingCharge] {
    missing[lineage.name] ?? []
  }

  /// Counts what is deliberately not a break.
  func omit(_ observation: ReconciliationCount) { counts[observation, default: 0] += 1 }

  /// Whether events at that time would have reached the ledger.
  func isWatched(_ instant: Instant, _ about: BreakSubject) -> Bool {
    rules.firstEventAt(about).map { instant >= $0 } ?? false
  }

  func isWatched(_ instant: Instant, _ lineage: LineageInput) -> Bool {
    isWatched(instant, subject(lineage))
  }

  func isRefundMissed(_ lineage: LineageInput) -> Bool { missedRefunds.contains(lineage.name) }

  var gap: Interval { rules.fold.renewalGap }
  var capabilities: ProviderCapabilities { user.provider.capabilities }

  func subject(_ lineage: LineageInput, product: String? = nil) -> BreakSubject {
    var about = lineageSubject(lineage, product: lineage.state.product)
    if about.user.isEmpty { about.user = user.user }
    if let product { about.product = product }
    return about
  }
}
