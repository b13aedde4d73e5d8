import Domain
import Subscriptions

/// The transactions in events, over all lineages of the user, including those of other providers.
struct ReportedTransactions {
  private var charges: Set<Int64> = []
  private var trials: Set<Int64> = []
  /// When product changes without a charge were reported, by transaction.
  private var changes: [Int64: [Instant]] = [:]
  /// Refunded charges, and those whose access was revoked without a report about money.
  var takenBack: Set<Int64> = []

  init(_ lineages: [LineageInput], _ rules: ReconciliationSettings) {
    for lineage in lineages {
      let newest = rules.feed(lineage.state.provider, lineage.app)?.newest
      add(lineage.state, until: newest)
      if let current = lineage.current { add(current, until: newest) }
    }
  }

  /// - Parameter newest: the newest input of the provider's feed.
  private mutating func add(_ state: LineageState, until newest: Instant?) {
    for charge in state.charges {
      charges.insert(charge.transaction)
      // It can be a trial if the provider does not mark trials.
      if !state.provider.capabilities.marksTrials { trials.insert(charge.transaction) }
    }
    // Providers that send no money report a product change without it.
    if !state.provider.capabilities.sendsWholeCharges {
      for change in state.unpaidChanges {
        changes[change.transaction, default: []].append(change.time)
      }
    }
    for trial in state.trials { trials.insert(trial.transaction) }
    for refund in state.refunds { takenBack.insert(refund.transaction) }
    // Reports before its own first event precede a move to this provider, those after its feed's
    // newest input follow a move to another one.
    for report in state.reportedByOthers
    where report.isExpected || report.time < state.firstEventAt
      || newest.map({ report.time > $0 }) ?? false
    {
      switch report.kind {
      case .trialStarted: trials.insert(report.transaction)
      case _ where report.kind.isRefund: takenBack.insert(report.transaction)
      default: charges.insert(report.transaction)
      }
    }
    if state.accessRevoked, let last = state.charges.last { takenBack.insert(last.transaction) }
  }

  /// Whether an event reported it; a product change reports only the charge at its own time.
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
    charges.contains(transaction.key)
      || reportsChange(transaction.key, at: transaction.at, within: gap)
  }

  /// Whether a product change without money reported the charge `transaction`, at `instant` if that
  /// is known.
  func reportsChange(_ transaction: Int64, at instant: Instant?, within gap: Interval) -> Bool {
    guard let reported = changes[transaction] else { return false }
    guard let instant else { return true }
    return reported.contains { $0.isWithin(gap, of: instant) }
  }
}

/// A store transaction of the snapshot, with additional facts of its entitlement.
struct ListedTransaction: Equatable {
  let id: String
  /// `transactionKey` of the id.
  let key: Int64
  var original: String
  /// `transactionKey` of the original id.
  private(set) var originalKey: Int64
  var kind: SnapshotTransactionKind
  var product: String
  var entitledProduct: String
  var store: Store
  /// What it cost, in `currency`; nil when not sent.
  private(set) var price: Amount?
  /// ISO 4217 code of the price.
  private(set) var currency: String
  var at: Instant?
  var expiresAt: Instant?
  var revokedAt: Instant?
  /// When the access that contains it began; nil when not sent.
  var startedAt: Instant?
  /// Whether an entitlement's state and product describe it.
  var isNewest: Bool
  /// When it happened according to the snapshot; nil if not sent.
  private(set) var dateSent: Instant?
  /// Whether its purchase is waiting for a payment.
  var isFailing: Bool
  /// Whether its purchase gives no access.
  var isOver: Bool

  init(_ transaction: SnapshotTransaction, of entitlement: Entitlement, isNewest: Bool = false) {
    id = transaction.id
    key = transactionKey(id)
    original = transaction.originalID.isEmpty ? transaction.id : transaction.originalID
    originalKey = original.isExactly(id) ? key : transactionKey(original)
    kind = transaction.kind
    product = transaction.product
    entitledProduct = entitlement.product
    store = entitlement.store
    price = transaction.price
    currency = transaction.currency
    at = transaction.at
    expiresAt = transaction.expiresAt
    revokedAt = transaction.revokedAt
    startedAt = entitlement.startedAt
    self.isNewest = isNewest
    dateSent = transaction.at
    isFailing = entitlement.renewState == .billingIssue
    isOver = entitlement.isActive == false
  }

  var isTrial: Bool { kind == .trialStarted || kind == .free }
  /// Whether it is the first charge: its purchase continues in later charges.
  var opensPeriods: Bool { kind == .started || kind == .introStarted || isTrial }
  var isOffer: Bool { kind == .introStarted || kind == .introRenewed }

  func precedes(_ other: ListedTransaction) -> Bool {
    (at?.milliseconds ?? .max, ExactText(id))
      < (other.at?.milliseconds ?? .max, ExactText(other.id))
  }

  /// Merges another listing of the transaction; each can contain what the other lacks.
  mutating func merge(_ other: ListedTransaction) {
    if originalKey == key { (original, originalKey) = (other.original, other.originalKey) }
    if kind == .unknown { kind = other.kind }
    if product.isEmpty { product = other.product }
    if entitledProduct.isEmpty || (other.isNewest && !isNewest) {
      entitledProduct = other.entitledProduct
    }
    isNewest = isNewest || other.isNewest
    if store == .unknown { store = other.store }
    if price == nil { (price, currency) = (other.price, other.currency) }
    at = at ?? other.at
    dateSent = dateSent ?? other.dateSent
    expiresAt = expiresAt ?? other.expiresAt
    revokedAt = revokedAt ?? other.revokedAt
    startedAt = [startedAt, other.startedAt].compactMap(\.self).min()
    isFailing = isFailing || other.isFailing
    isOver = isOver && other.isOver
  }
}

extension SnapshotTransaction {
  /// Orders transactions by when they happened: by date, else by the paid end.
  var order: (Int64, Int64, ExactText) {
    (at?.milliseconds ?? .min, expiresAt?.milliseconds ?? .min, ExactText(id))
  }
}

extension Reconciler {
  /// All listed transactions of the same subscription, including this one.
  func siblings(of transaction: ListedTransaction) -> [ListedTransaction] {
    view.subscriptions[transaction.originalKey] ?? []
  }

  func subject(_ transaction: ListedTransaction, _ lineage: LineageInput?) -> BreakSubject {
    let mapped = storeProducts(transaction.entitledProduct) ?? []
    if let lineage {
      var product = transaction.product
      let sold = soldProduct(mapped, in: lineage.store(shownAs: transaction.store))
      let held = productHeld(transaction, lineage, sold)
      // Only one of both may name the base plan of Play's product.
      if product.isEmpty || held.withoutBasePlan == product || product.withoutBasePlan == held {
        product = lineage.refundedProduct(of: transaction.key) ?? held
      }
      var about = subject(lineage, product: product)
      if !lineage.sharesOriginal || !lineage.parts.contains(transaction.original) {
        about.original = transaction.original
      }
      return about
    }
    return subject(
      buying: transaction.product.isEmpty ? mapped : [transaction.product],
      in: transaction.store, original: transaction.original)
  }

  /// An entitlement names the product of its newest transaction; older ones may have another.
  private func productHeld(
    _ transaction: ListedTransaction, _ lineage: LineageInput, _ mapped: String?
  ) -> String {
    if let named = lineage.latest.productsOfUncharged[transaction.key] {
      return lineage.text(named)
    }
    if transaction.isNewest, let mapped { return mapped }
    if let at = transaction.at, !lineage.latest.subscriptionCharges.isEmpty {
      let isStart = !continuesReported(transaction, lineage, at: at)
      return product(of: lineage, at: at, isStart: isStart)
    }
    return mapped ?? lineage.product
  }

  /// Whether a charge at `instant` renewed the product reported before it: neither it nor another
  /// missing charge since then began a product.
  private func continuesReported(
    _ transaction: ListedTransaction, _ lineage: LineageInput, at instant: Instant
  ) -> Bool {
    if transaction.opensPeriods { return false }
    let last = lineage.latest.subscriptionCharges.last { $0.time <= instant }
    let siblings = siblings(of: transaction)
    return !siblings.contains { listed in
      guard let at = listed.at, at <= instant, listed.key != last?.transaction,
        last.map({ $0.time <= at }) ?? true
      else { return false }
      let previous = siblings.last { $0.kind != .oneTime && $0.precedes(listed) }
      let ends = [last?.periodEnd, previous?.revokedAt == nil ? previous?.expiresAt : nil]
      // If more than the gap was left of the period before, the charge changed the product.
      let cutsPeriod = ends.contains { $0.map { at + gap < $0 } ?? false }
      return listed.opensPeriods && listed.kind != .free || cutsPeriod
    }
  }

  /// The lineage that a listed transaction belongs to.
  ///
  /// If no event had it when the snapshot was taken, that is the lineage that its entitlement came
  /// from before, else the one that it is `about`.
  func lineageName(
    of transaction: ListedTransaction, _ lineage: LineageInput?, _ about: BreakSubject
  ) -> LineageName {
    if let lineage, lineages.contains(where: { $0.state.lineage == lineage.state.lineage }) {
      return lineage.name
    }
    let before = origins.continued[transaction.key]
    return before.map { lineages[$0].name } ?? lineage?.name ?? about.lineage
  }

  /// The end that it extended, as known from events or the list; if that is more than a period
  /// earlier, one period before its own end; else when the access that contains it began.
  func inferredDate(of transaction: ListedTransaction) -> Instant? {
    let state = lineage(of: transaction)?.latest
    let reported = state?.charges.last { $0.transaction == transaction.key }
    if let reported { return reported.time }
    guard let end = transaction.expiresAt else { return transaction.startedAt }
    let listed = siblings(of: transaction).compactMap(\.expiresAt)
    let paid = state?.subscriptionCharges.compactMap(\.periodEnd) ?? []
    let tried = state?.trials.compactMap(\.end) ?? []
    let known = (listed + paid + tried).filter { $0 < end - rules.endTolerance }
    guard let length = state.flatMap({ periodLength($0) }) else {
      return known.max() ?? transaction.startedAt.flatMap { $0 < end ? $0 : nil }
    }
    // Months differ in length; if two periods are missing, the end between them is unknown.
    let isNext = known.max().map { end.since($0).milliseconds < length.milliseconds / 2 * 3 }
    return isNext == true ? known.max() : end - length
  }
}
