import Subscriptions
import Domain

/// Every store transaction of the snapshot has its event.
extension Reconciler {
  mutating func findMissingTransactions() {
    guard let view else { return }
    let told = ToldTransactions(lineagesOfAnyTime)
    for transaction in view.transactions {
      let lineage = lineage(of: transaction)
      let isTold = told.covers(transaction, within: rules.fold.renewalGap)
      if !isTold, !isDeclined(transaction, lineage) {
        judge(typed(transaction, lineage), of: lineage, in: view)
      }
      if transaction.revokedAt != nil, !transaction.isTrial {
        judgeRevocation(transaction, of: lineage, told)
      }
    }
  }

  private mutating func judge(
    _ transaction: ListedTransaction, of lineage: LineageInput?, in view: SnapshotView
  ) {
    let about = subject(transaction, lineage)
    let charge = missingCharge(transaction, lineage, about, in: view)
    // Of what happened at as-of or later no event can be known; it explains what else is shown.
    if let at = transaction.at, at >= rules.fold.asOf { return expect(charge) }
    if let at = transaction.at ?? transaction.expiresAt, !isWatched(at, about) {
      counts.beforeFirstEvent += 1
      return
    }
    let code = charge.code
    var draft = BreakDraft(
      code: code, subject: about, key: .transaction(transaction.id),
      transaction: transaction.id, expectedAt: transaction.at, missingEvents: 1,
      evidence: evidence(transaction, lineage), action: nextStep(code, user.provider))
    if transaction.isTrial {
      (draft.estimate, draft.basis) = (.zero, .provider)
    } else if let lineage {
      (draft.estimate, draft.basis) = estimate(
        of: transaction.key, lineage, product: about.product, code, at: transaction.at,
        isOffer: transaction.isOffer)
    }
    raise(draft, for: charge)
  }

  private func missingCharge(
    _ transaction: ListedTransaction, _ lineage: LineageInput?, _ about: BreakSubject,
    in view: SnapshotView
  ) -> MissingCharge {
    MissingCharge(
      lineage: life(of: transaction, lineage, about),
      code: code(of: transaction, lineage, in: view),
      at: transaction.at, end: transaction.expiresAt, isFree: transaction.isTrial,
      opensLineage: !isOfEarlierLife(transaction, lineage, view.siblings(of: transaction))
        && (isFirst(transaction, in: view) || isFirstPaid(transaction, lineage, in: view)))
  }

  /// The lineage that a listed transaction belongs to: of one that no event knew when the snapshot
  /// was taken, the one that its entitlement came from before, else the one that it is `about`.
  private func life(
    of transaction: ListedTransaction, _ lineage: LineageInput?, _ about: BreakSubject
  ) -> LineageName {
    if let lineage, lineages.contains(where: { $0.state.lineage == lineage.state.lineage }) {
      return lineage.name
    }
    let before = origins.continued[ExactText(transaction.id)]
    return before.map { lineages[$0].name } ?? lineage?.name ?? about.lineage
  }

  private func isFirst(_ transaction: ListedTransaction, in view: SnapshotView) -> Bool {
    view.siblings(of: transaction).first.map { !$0.precedes(transaction) } ?? true
  }

  /// Whether events of that time would have reached the ledger.
  func isWatched(_ instant: Instant, _ about: BreakSubject) -> Bool {
    guard let first = rules.firstEventAt(about) else { return false }
    return instant >= first
  }

  func subject(_ transaction: ListedTransaction, _ lineage: LineageInput?) -> BreakSubject {
    let mapped = storeProducts(transaction.entitledProduct) ?? []
    if let lineage {
      var product = transaction.product
      if product.isEmpty {
        product =
          lineage.productGivenBack(of: transaction.key)
          ?? productHeld(transaction, lineage, mapped)
      }
      var about = subject(lineage, product: product)
      // The user's later purchases move a lineage's own original id, but not the listed one.
      about.original = transaction.original
      return about
    }
    var about = BreakSubject(provider: user.provider)
    about.app = presumedApp(
      selling: transaction.product.isEmpty ? mapped : [transaction.product], in: transaction.store)
    about.store = transaction.store
    about.user = user.user
    about.original = transaction.original
    about.product = transaction.product
    if about.product.isEmpty, mapped.count == 1 { about.product = mapped[0] }
    return about
  }

  /// An entitlement names the product of its newest transaction; older ones may be of another.
  private func productHeld(
    _ transaction: ListedTransaction, _ lineage: LineageInput, _ mapped: [String]
  ) -> String {
    if let named = lineage.latest.productsOfUncharged[transaction.key] {
      return lineage.text(named)
    }
    if transaction.isNewest, mapped.count == 1 { return mapped[0] }
    if let at = transaction.at, !lineage.latest.subscriptionCharges.isEmpty {
      return transaction.opensPeriods
        ? productBegun(in: lineage, at: at) : product(of: lineage, at: at)
    }
    return mapped.count == 1 ? mapped[0] : lineage.product
  }

  private func evidence(_ transaction: ListedTransaction, _ lineage: LineageInput?) -> String {
    let date = transaction.at.map { " of \($0.text)" } ?? ""
    let revoked = transaction.revokedAt.map { ", revoked \($0.text)" } ?? ""
    let here = "the snapshot lists transaction \(transaction.id)\(date)\(revoked)"
    guard let lineage else { return here + "; no event of its subscription ever came" }
    let carried = lineage.latest.transactions.contains(transaction.key)
    let there =
      carried ? "events carry its id, but none is its charge" : "no event carries its id"
    return "\(here); \(there); \(lineage.latest.charges.count) charges of the subscription came"
  }

  private mutating func judgeRevocation(
    _ transaction: ListedTransaction, of lineage: LineageInput?, _ told: ToldTransactions
  ) {
    guard let revokedAt = transaction.revokedAt, !told.refunds.contains(transaction.key),
      !told.revoked.contains(transaction.key)
    else { return }
    let about = subject(transaction, lineage)
    let life = life(of: transaction, lineage, about)
    let ended: Set = isOfOlderPeriod(transaction, in: lineage) ? [] : [life]
    guard revokedAt < rules.fold.asOf else { return missedRefunds.formUnion(ended) }
    // Of what the provider has no word for, the event was never sent.
    guard
      user.provider.capabilities.sendsRefunds(
        of: transaction.kind == .oneTime ? .oneTime : .subscription)
    else {
      counts.refundsNeverTold += 1
      return missedRefunds.formUnion(ended)
    }
    guard isWatched(revokedAt, about) else {
      counts.beforeFirstEvent += 1
      return
    }
    var draft = BreakDraft(
      code: .missedRefund, subject: about, key: .transaction(transaction.id),
      transaction: transaction.id, expectedAt: revokedAt, missingEvents: 1,
      evidence: "the snapshot lists transaction \(transaction.id) as revoked "
        + "\(revokedAt.text); no refund event of it came",
      action: nextStep(.missedRefund, user.provider))
    if let lineage {
      let charge = lineage.latest.charges.last { $0.transaction == transaction.key }
      let usual = estimate(lineage, product: about.product)
      draft.estimate = (charge?.grossUSD ?? usual.amount).map { -$0 }
      draft.basis = charge?.grossUSD == nil ? usual.basis : charge?.basis ?? .none
    }
    missedRefunds.formUnion(ended)
    raise(draft, in: life)
  }

  /// Whether another charge of the subscription came after the transaction, so that its refund is
  /// money only.
  private func isOfOlderPeriod(
    _ transaction: ListedTransaction, in lineage: LineageInput?
  ) -> Bool {
    guard let charges = lineage?.latest.subscriptionCharges, let last = charges.last else {
      return false
    }
    if charges.contains(where: { $0.transaction == transaction.key }) {
      return last.transaction != transaction.key
    }
    return transaction.dateSent.map { $0 < last.time } ?? false
  }
}

/// The transactions that events spoke of, over all lineages of the user.
private struct ToldTransactions {
  private var charges: Set<Int64> = []
  private var trials: Set<Int64> = []
  /// When changes of product were told without a charge, by transaction.
  private var changes: [Int64: [Instant]] = [:]
  var refunds: Set<Int64> = []
  /// Charges whose access a revocation without a statement about money took away.
  var revoked: Set<Int64> = []

  init(_ lineages: [LineageInput]) {
    for state in lineages.flatMap({ [$0.state, $0.latest] }) {
      charges.formUnion(state.charges.map(\.transaction))
      // Providers that send no money tell a change of product without it.
      if !state.provider.capabilities.sendsWholeCharges {
        for change in state.unpaidChanges {
          changes[change.transaction, default: []].append(change.time)
        }
      }
      trials.formUnion(state.trials.map(\.transaction))
      refunds.formUnion(state.refunds.map(\.transaction))
      if state.accessTakenAway, let last = state.charges.last { revoked.insert(last.transaction) }
    }
  }

  /// Whether an event told it.
  ///
  /// A change of product tells the charge that it makes, but not one of another time that it names.
  func covers(_ transaction: ListedTransaction, within gap: Interval) -> Bool {
    switch transaction.kind {
    case .trialStarted: trials.contains(transaction.key)
    case .unknown, .free:
      isCharged(transaction, within: gap) || trials.contains(transaction.key)
    case .started, .renewed, .introStarted, .introRenewed, .oneTime:
      isCharged(transaction, within: gap)
    }
  }

  private func isCharged(_ transaction: ListedTransaction, within gap: Interval) -> Bool {
    if charges.contains(transaction.key) { return true }
    guard let told = changes[transaction.key] else { return false }
    guard let at = transaction.at else { return true }
    return told.contains { abs($0.since(at).milliseconds) <= gap.milliseconds }
  }
}
