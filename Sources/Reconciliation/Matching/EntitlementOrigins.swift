import Subscriptions
import Domain

/// The lineage that each entitlement of the snapshot comes from.
struct EntitlementOrigins {
  /// Indices of lineages, one for each entitlement in the order of the view; nil if unknown.
  var lineages: [Int?] = []
  /// Lineages whose current state an entitlement shows; no other entitlement can come from them.
  var claimed: Set<Int> = []
  /// For unknown listed transactions, by key: the lineage that their entitlement came from before.
  var continued: [Int64: Int] = [:]
}

extension Reconciler {
  /// Finds origins by transactions and products first, then by the only possible subscription.
  ///
  /// - Parameter known: the lineages that events reported before the snapshot.
  func findOrigins(_ known: LineageIndex) -> EntitlementOrigins {
    var origins = EntitlementOrigins()
    for entitlement in view.entitlements {
      let listed = known.newestKnown(of: entitlement)
      for key in listed?.unknown ?? [] { origins.continued[key] = listed?.lineage }
      let isKnown = !isNewer(entitlement.newestTransaction, of: entitlement)
      let current = isKnown ? listed?.lineage : nil
      let found = entitlement.transactions.isEmpty ? holder(of: entitlement) : current
      origins.lineages.append(found)
      if let found, claims(entitlement, lineages[found]) { origins.claimed.insert(found) }
    }
    for (place, entitlement) in view.entitlements.enumerated()
    where origins.lineages[place] == nil && entitlement.transactions.isEmpty {
      origins.lineages[place] = onlyOne(for: entitlement, origins.claimed)
    }
    return origins
  }

  /// Whether events have the transaction, all those of its lineage being newer than the snapshot:
  /// what the entitlement shows of it contradicts no older lineage.
  private func isNewer(_ newest: SnapshotTransaction?, of entitlement: Entitlement) -> Bool {
    guard let newest, let place = named.lineage(of: ListedTransaction(newest, of: entitlement)),
      place >= lineages.count
    else { return false }
    return allLineages[place].latest.transactions.contains(transactionKey(newest.id))
  }

  /// The lineages in its store that an entitlement without transactions may come from, without
  /// those that other entitlements claim.
  ///
  /// A lineage that had ended before the access began did not grant it, unless it is the user's
  /// only one: the subscription can have come back.
  func lineagesLeft(for entitlement: Entitlement, _ claimed: Set<Int>) -> [Int] {
    let all = sameSort(entitlement)
    let left = all.filter { !claimed.contains($0) }
    guard all.count > 1, let started = entitlement.startedAt else { return left }
    return left.filter { index in
      lineages[index].state.effectiveEnd.map { $0 + gap >= started } ?? true
    }
  }

  private func onlyOne(for entitlement: Entitlement, _ claimed: Set<Int>) -> Int? {
    let isMapped = storeProducts(entitlement.product) != nil
    // A one-time purchase never changes its product. Of several subscriptions, one can be
    // identified only by a product that is known not to belong to another.
    guard isMapped ? entitlement.isSubscription : sameSort(entitlement).count == 1 else {
      return nil
    }
    let left = lineagesLeft(for: entitlement, claimed)
    return left.count == 1 ? left[0] : nil
  }

  private func sameSort(_ entitlement: Entitlement) -> [Int] {
    lineages.indices.filter {
      lineages[$0].state.store.mayBe(entitlement.store)
        && lineages[$0].latest.isSubscription == entitlement.isSubscription
    }
  }

  /// The lineage that has or once had the entitlement's product.
  private func holder(of entitlement: Entitlement) -> Int? {
    guard let products = storeProducts(entitlement.product) else { return nil }
    // Refunds alone do not show that a purchase granted this access.
    let all = sameSort(entitlement)
    let bought = all.filter { !hasRefundsOnly(lineages[$0].state) }
    let sameSort = bought.isEmpty ? all : bought
    let holding = sameSort.filter { products.contains(lineages[$0].product) }
    let once = sameSort.filter { index in
      lineages[index].state.charges.contains {
        products.contains(lineages[index].text($0.product))
      }
    }
    let granted = isOfWebhook ? (holding + once).filter { mayHaveGranted(entitlement, $0) } : []
    return endingLast(granted) ?? endingLast(holding) ?? endingLast(once)
  }

  /// Whether a lineage had begun when the webhook was created and lasted until the shown start: the
  /// user can have bought the same product again since.
  private func mayHaveGranted(_ entitlement: Entitlement, _ index: Int) -> Bool {
    let state = lineages[index].state
    guard let started = entitlement.startedAt, state.firstEventAt <= knownAt else { return false }
    return state.effectiveEnd.map { $0 + gap >= started } ?? true
  }

  private func endingLast(_ indices: [Int]) -> Int? {
    indices.max {
      let (left, right) = (lineages[$0].state, lineages[$1].state)
      return (left.effectiveEnd?.milliseconds ?? .max, $0)
        < (right.effectiveEnd?.milliseconds ?? .max, $1)
    }
  }

  /// Whether the entitlement shows the current state of its lineage; it does not if it ended early
  /// or can be of a past product, because another one can have replaced it.
  private func claims(_ entitlement: Entitlement, _ lineage: LineageInput) -> Bool {
    guard isOver(entitlement) else { return true }
    guard !capabilities.listsPastProducts else { return false }
    guard let shown = entitlement.expiresAt, let known = lineage.state.periodEnd else {
      return true
    }
    return shown > known || agree(shown, known)
  }
}

/// The lineages that a list of transactions identifies.
final class LineageIndex {
  private let lineages: [LineageInput]
  private lazy var byOriginal = lineages.indices.reversed().reduce(into: [Int64: Int]()) {
    $0[lineages[$1].originalKey] = $1
    for part in lineages[$1].parts { $0[transactionKey(part)] = $1 }
  }
  private lazy var byTransaction = lineages.indices.reversed().reduce(into: [Int64: Int]()) {
    for key in lineages[$1].latest.transactions { $0[key] = $1 }
  }

  init(_ lineages: [LineageInput]) { self.lineages = lineages }

  /// The lineage of the newest transaction that any lineage has, and the keys of newer ones.
  func newestKnown(of entitlement: Entitlement) -> (lineage: Int, unknown: [Int64])? {
    if let newest = entitlement.newestTransaction,
      let found = lineage(of: ListedTransaction(newest, of: entitlement))
    {
      return (found, [])
    }
    let newestFirst = entitlement.transactions.sorted { $0.order > $1.order }
    for (place, transaction) in newestFirst.enumerated() {
      if let found = lineage(of: ListedTransaction(transaction, of: entitlement)) {
        return (found, newestFirst[..<place].map { transactionKey($0.id) })
      }
    }
    return nil
  }

  /// The lineage of a listed transaction, by its original id, else by its own id.
  func lineage(of transaction: ListedTransaction) -> Int? {
    byOriginal[transaction.originalKey] ?? byTransaction[transaction.key]
  }

  /// The first lineage that has any of the transactions.
  func first(ofAny keys: some Sequence<Int64>) -> Int? {
    keys.lazy.compactMap { self.byTransaction[$0] }.min()
  }
}
