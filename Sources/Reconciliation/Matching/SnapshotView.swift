import Subscriptions
import Domain

/// What of a snapshot was bought by the user with real money: without grants, family shares and
/// sandbox, in an order that does not depend on the file's.
struct SnapshotView {
  let capturedAt: Instant
  private(set) var entitlements: [Entitlement] = []
  /// Each transaction id once, in the order of business time.
  private(set) var transactions: [ListedTransaction] = []
  /// The same, by original id.
  private(set) var subscriptions: [ExactText: [ListedTransaction]] = [:]
  private(set) var counts = ReconciliationCounts()
  /// Places in `transactions` by key, the first of two that share one.
  private var places: [Int64: Int] = [:]

  init(_ snapshot: Snapshot, sandbox: SandboxIDs) {
    capturedAt = snapshot.capturedAt
    for entitlement in snapshot.entitlements where admit(entitlement) {
      var bought = entitlement
      bought.transactions = entitlement.transactions.filter { admit($0, sandbox: sandbox) }
      if bought.transactions.isEmpty, !entitlement.transactions.isEmpty { continue }
      entitlements.append(bought)
    }
    entitlements.sort { $0.precedes($1) }
    listTransactions()
  }

  /// Whether the user bought it; counts it by the reason when not.
  private mutating func admit(_ entitlement: Entitlement) -> Bool {
    switch entitlement.grant {
    case .purchase, .offerCode: return true
    case .manual: counts.manualGrants += 1
    case .familySharing: counts.familyShares += 1
    }
    return false
  }

  /// Whether the user paid for it with real money; counts it by the reason when not.
  private mutating func admit(_ transaction: SnapshotTransaction, sandbox: SandboxIDs) -> Bool {
    if transaction.environment == .sandbox || sandbox.holds(transaction) {
      counts.sandbox += 1
      return false
    }
    if transaction.ownership == .familySharing {
      counts.familyShares += 1
      return false
    }
    return true
  }

  /// One purchase often unlocks several entitlements, each of which lists it.
  private mutating func listTransactions() {
    var byID: [ExactText: ListedTransaction] = [:]
    for entitlement in entitlements {
      let newest = entitlement.newestTransaction.map { ExactText($0.id) }
      for transaction in entitlement.transactions where !transaction.id.isEmpty {
        let isNewest = ExactText(transaction.id) == newest
        let listed = ListedTransaction(transaction, of: entitlement, isNewest: isNewest)
        let id = ExactText(listed.id)
        byID[id] = byID[id]?.merged(with: listed) ?? listed
      }
    }
    arrange(Array(byID.values))
  }

  private mutating func arrange(_ listed: [ListedTransaction]) {
    transactions = listed.sorted { $0.precedes($1) }
    subscriptions = Dictionary(grouping: transactions) { ExactText($0.original) }
    places = Dictionary(
      transactions.indices.map { (transactions[$0].key, $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The listed transaction with this key.
  func transaction(_ key: Int64) -> ListedTransaction? { places[key].map { transactions[$0] } }

  /// Gives transactions without a date the one that `presumed` infers, if any.
  mutating func date(by presumed: (ListedTransaction) -> Instant?) {
    guard transactions.contains(where: { $0.at == nil }) else { return }
    arrange(
      transactions.map { transaction in
        var dated = transaction
        dated.at = transaction.at ?? presumed(transaction).map { min($0, capturedAt - .seconds(1)) }
        return dated
      })
  }

  /// All listed transactions of the same subscription, that one included.
  func siblings(of transaction: ListedTransaction) -> [ListedTransaction] {
    subscriptions[ExactText(transaction.original)] ?? []
  }
}

/// Transactions that events place in the sandbox; not every shape of snapshot contains the
/// environment.
struct SandboxIDs {
  private let transactions: Set<Int64>
  /// Original ids of subscriptions that are in the sandbox alone.
  private let originals: Set<Int64>

  init(_ sandbox: [LineageInput], besides production: [LineageInput]) {
    func keys(_ lineages: [LineageInput]) -> Set<Int64> {
      Set(lineages.flatMap { $0.latest.transactions + [transactionKey($0.original)] })
    }
    transactions = Set(sandbox.flatMap(\.latest.transactions))
    originals = keys(sandbox).subtracting(keys(production))
  }

  func holds(_ transaction: SnapshotTransaction) -> Bool {
    let original = transaction.originalID
    return transactions.contains(transactionKey(transaction.id))
      || !original.isEmpty && originals.contains(transactionKey(original))
  }
}

extension Entitlement {
  /// Whether access is on, by the flag or else by the end; nil when neither is sent.
  func isActive(at instant: Instant) -> Bool? { isActive ?? expiresAt.map { $0 > instant } }

  /// Whether the entitlement comes from something that renews.
  var isSubscription: Bool {
    switch renewState {
    case .nonRenewable: false
    case .willRenew, .canceled, .billingIssue: true
    case .unknown, nil: expiresAt != nil
    }
  }

  /// Its newest transaction; the one that its state describes.
  var newestTransaction: SnapshotTransaction? {
    transactions.max { $0.isOlder(than: $1) }
  }

  /// Whether it comes before `other`, by all that a comparison with events looks at.
  func precedes(_ other: Entitlement) -> Bool {
    sortKey != other.sortKey ? sortKey < other.sortKey : stateKey < other.stateKey
  }

  private var sortKey: (String, String, Int64, String) {
    (id, product, expiresAt?.milliseconds ?? .max, newestTransaction?.id ?? "")
  }

  private var stateKey: (Int64, Int, Int, Int) {
    (
      startedAt?.milliseconds ?? .max, isActive.map { $0 ? 1 : 0 } ?? 2,
      renewState.map { Int($0.rawValue) } ?? .max, renewsCount.map { Int($0) } ?? .max
    )
  }
}
