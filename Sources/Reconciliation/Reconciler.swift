import Subscriptions
import Domain

/// A charge or trial start that must have happened and never came.
struct MissingCharge {
  /// The lineage that it belongs to, for the passes that follow.
  var lineage: LineageName
  var code: BreakCode
  /// Business time; nil when nothing tells it.
  var at: Instant?
  /// End of the period paid for, when known.
  var end: Instant?
  var count: Int64 = 1
  var isFree = false
  /// Whether nothing of the lineage was paid before it, so that counting begins with it.
  var opensLineage = false
}

/// The state of one user's reconciliation while its passes run.
///
/// Every pass leaves in `missing` what it found, and those after it take it as told, so that one
/// loss is one break.
struct Reconciler {
  let user: ReconciliationInput
  let rules: ReconciliationSettings
  /// Nil when no snapshot names the user.
  private(set) var view: SnapshotView?
  /// Production lineages, in the order of their original ids.
  let lineages: [LineageInput]
  /// Those and the production lineages all of whose events are newer than the snapshot: it proves
  /// nothing about these, but their events may.
  let lineagesOfAnyTime: [LineageInput]
  /// Sandbox lineages; they only explain what the snapshot does not mark as sandbox.
  let sandbox: [LineageInput]
  private(set) var origins = EntitlementOrigins()
  /// `lineagesOfAnyTime` by what the snapshot lists.
  private var named = NamedLineages([])
  /// Where in them the listed subscriptions are that only a transaction of theirs tells.
  private var homes: [ExactText: Int] = [:]
  /// By the lineage that they belong to.
  private(set) var missing: [LineageName: [MissingCharge]] = [:]
  /// Lineages whose access a refund that never came has taken away.
  var missedRefunds: Set<LineageName> = []
  private var breaks: [String: Break] = [:]
  /// What the missing events of each lineage cast doubt on.
  private var doubts: [LineageName: [Doubt]] = [:]
  var counts = ReconciliationCounts()

  init(_ user: ReconciliationInput, rules: ReconciliationSettings) {
    self.user = user
    self.rules = rules
    let ordered = user.lineages.sorted {
      ($0.original, $0.state.lineage) < ($1.original, $1.state.lineage)
    }
    lineages = ordered.filter { $0.state.environment == .production }
    lineagesOfAnyTime =
      lineages + user.newerLineages.filter { $0.state.environment == .production }
    sandbox = ordered.filter { $0.state.environment == .sandbox }
    let known = SandboxIDs(sandbox, besides: lineagesOfAnyTime)
    view = user.snapshot.map { SnapshotView($0, sandbox: known) }
    guard let view else { return }
    counts = view.counts
    origins = tellOrigins(view.entitlements)
    guard !view.transactions.isEmpty else { return }
    named = NamedLineages(lineagesOfAnyTime)
    for (original, listed) in view.subscriptions {
      homes[original] = named.first(ofAny: listed.map(\.key) + [transactionKey(original.text)])
    }
    var dated = view
    dated.date { presumedDate(of: $0, in: view) }
    self.view = dated
  }

  /// The lineage of a listed transaction: by its original id, by its own, else by that of another
  /// one that the list puts to the same subscription, for not every provider's events name it.
  func lineage(of transaction: ListedTransaction) -> LineageInput? {
    let place = named.lineage(of: transaction) ?? homes[ExactText(transaction.original)]
    return place.map { lineagesOfAnyTime[$0] }
  }

  /// The moment up to which the snapshot speaks; as-of without one.
  var knownAt: Instant {
    guard let view else { return rules.fold.asOf }
    return min(rules.fold.asOf, view.capturedAt)
  }

  var outcome: ReconciliationResult {
    var outcome = ReconciliationResult()
    outcome.breaks = breaks.values.sorted { $0.id < $1.id }
    outcome.counts = counts
    for lineage in lineagesOfAnyTime where !lineage.isHeldByAnotherUser {
      outcome.churnInDoubt.formUnion(lineage.churnInDoubt(doubts[lineage.name] ?? []))
    }
    return outcome
  }

  /// The breaks so far, in no order.
  var raised: some Sequence<Break> { breaks.values }

  /// Keeps a break; the first pass that raised an id keeps it.
  ///
  /// - Parameter life: the lineage whose ends it casts doubt on, where that is another one than the
  ///   break's own.
  mutating func raise(_ draft: BreakDraft, in life: LineageName? = nil) {
    let knownUntil = draft.provenBy == .events ? rules.fold.asOf : knownAt
    let found = draft.finished(knownAt: knownUntil, rules)
    if let doubt = Doubt(draft, gap: rules.fold.renewalGap) {
      doubts[life ?? draft.subject.lineage, default: []].append(doubt)
    }
    if breaks[found.id] == nil { breaks[found.id] = found }
  }

  /// Raises a missing charge and remembers it for the passes that follow.
  mutating func raise(_ draft: BreakDraft, for charge: MissingCharge) {
    expect(charge)
    if let doubt = Doubt(charge) { doubts[charge.lineage, default: []].append(doubt) }
    raise(draft, in: charge.lineage)
  }

  /// Remembers a charge that no event can have told yet, for the passes that follow.
  mutating func expect(_ charge: MissingCharge) {
    missing[charge.lineage, default: []].append(charge)
  }

  /// What earlier passes found missing in a lineage; free trials included.
  func missing(in lineage: LineageInput) -> [MissingCharge] {
    missing[lineage.name] ?? []
  }

  func subject(_ lineage: LineageInput, product: String? = nil) -> BreakSubject {
    var about = lineageSubject(lineage, product: lineage.state.product)
    if about.user.isEmpty { about.user = user.user }
    if let product { about.product = product }
    return about
  }

  /// The app of a purchase that no lineage knows: the snapshot's, else the one that sells such a
  /// product, else the user's only one; empty when several could be.
  func presumedApp(selling products: [String], in store: Store) -> String {
    if let app = user.snapshot?.app, !app.isEmpty { return app }
    let sellers = rules.apps(of: user.provider, selling: products, in: store)
    if let app = sellers.first, sellers.count == 1 { return app }
    let used = Set(lineages.map(\.app).filter { !$0.isEmpty })
    return used.count == 1 ? used.first ?? "" : ""
  }

  /// Store product ids of a snapshot's product; nil when no map tells them.
  func storeProducts(_ product: String) -> [String]? {
    if let mapped = rules.products[product] { return mapped }
    return product.isEmpty || user.provider.capabilities.namesDashboardProducts ? nil : [product]
  }

  /// The product that a charge at `instant` renewed: the one told last before it, else the one that
  /// what came after it says was held.
  func product(of lineage: LineageInput, at instant: Instant) -> String {
    lineage.productTold(until: instant) ?? lineage.productHeld(after: instant) ?? lineage.product
  }

  /// The product that a start at `instant` began: the one that what came after it says was held,
  /// else the one told last before it.
  func productBegun(in lineage: LineageInput, at instant: Instant) -> String {
    lineage.productHeld(after: instant) ?? lineage.productTold(until: instant) ?? lineage.product
  }
}

extension LineageInput {
  /// The product of the last charge or change of product up to `instant`; an announced change holds
  /// from the next charge on.
  func productTold(until instant: Instant) -> String? {
    let charge = latest.subscriptionCharges.last { $0.time <= instant }
    let change = latest.productChanges.last { $0.product != 0 && $0.time <= instant }
    if let change, charge.map({ $0.time < change.time }) ?? true { return text(change.product) }
    return charge.map { text($0.product) }
  }

  /// The product of the first charge after `instant`; where a change of product comes first, or is
  /// that charge, the one that it left.
  func productHeld(after instant: Instant) -> String? {
    let charge = latest.subscriptionCharges.first { $0.time > instant }
    let change = latest.productChanges.first { $0.previousProduct != 0 && $0.time > instant }
    if let change, charge.map({ change.time <= $0.time }) ?? true {
      return text(change.previousProduct)
    }
    return charge.map { text($0.product) }
  }
}
