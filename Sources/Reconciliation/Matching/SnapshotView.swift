import Subscriptions
import Domain

/// The part of a snapshot that the user bought with real money: without grants, family shares and
/// sandbox, in an order that does not depend on the file's.
final class SnapshotView {
  let capturedAt: Instant
  private(set) var entitlements: [Entitlement] = []
  /// Each transaction once, ordered by business time.
  private(set) var transactions: [ListedTransaction] = []
  /// The same by `originalKey`.
  private(set) lazy var subscriptions = Dictionary(grouping: transactions, by: \.originalKey)
  /// Positions in `transactions` by key, once all are dated.
  private lazy var places = transactions.indices.reduce(into: [Int64: Int]()) {
    $0[transactions[$1].key] = $1
  }
  private(set) var counts: [ReconciliationCount: Int64] = [:]

  init(_ snapshot: Snapshot, sandbox: SandboxIDs) {
    capturedAt = snapshot.capturedAt
    entitlements = snapshot.entitlements.compactMap { admitted($0, sandbox) }
    if entitlements.count > 1 { entitlements.sort { $0.precedes($1) } }
    listTransactions()
  }

  /// The part of the entitlement that the user bought; the rest is counted by reason.
  private func admitted(_ entitlement: Entitlement, _ sandbox: SandboxIDs) -> Entitlement? {
    switch entitlement.grant {
    case .purchase, .offerCode: break
    case .manual:
      counts[.manualGrants, default: 0] += 1
      return nil
    case .familySharing:
      counts[.familyShares, default: 0] += 1
      return nil
    }
    guard !entitlement.transactions.allSatisfy({ isBought($0, sandbox) }) else {
      return entitlement
    }
    var bought = entitlement
    bought.transactions.removeAll { transaction in
      if isBought(transaction, sandbox) { return false }
      let isTest = transaction.environment == .sandbox || sandbox.holds(transaction)
      counts[isTest ? .sandbox : .familyShares, default: 0] += 1
      return true
    }
    guard !bought.transactions.isEmpty else { return nil }
    if let newest = entitlement.newestTransaction, !isBought(newest, sandbox) {
      // State and counter are those of what the user did not buy.
      bought.removeState()
      (bought.renewsCount, bought.lastPurchasedAt) = (nil, nil)
    }
    return bought
  }

  /// Whether the user paid for it with real money.
  private func isBought(_ transaction: SnapshotTransaction, _ sandbox: SandboxIDs) -> Bool {
    transaction.grant == .purchase && transaction.environment == .production
      && !sandbox.holds(transaction)
  }

  /// Lists each transaction once: a purchase often unlocks several entitlements, which all list it.
  private func listTransactions() {
    var known: [Int64: Int] = [:]
    for entitlement in entitlements {
      let newest = entitlement.newestTransaction?.id ?? ""
      for transaction in entitlement.transactions where !transaction.id.isEmpty {
        let listed = ListedTransaction(
          transaction, of: entitlement, isNewest: transaction.id.isExactly(newest))
        if let place = known[listed.key] {
          transactions[place].merge(listed)
        } else {
          known[listed.key] = transactions.count
          transactions.append(listed)
        }
      }
    }
    transactions.sort { $0.precedes($1) }
  }

  func transaction(_ key: Int64) -> ListedTransaction? { places[key].map { transactions[$0] } }

  /// Gives each transaction without a date the one that `presumed` infers, if any.
  func date(by presumed: (ListedTransaction) -> Instant?) {
    guard transactions.contains(where: { $0.at == nil }) else { return }
    transactions = transactions.map { transaction in
      var dated = transaction
      dated.at = transaction.at ?? presumed(transaction).map { min($0, capturedAt - .seconds(1)) }
      return dated
    }.sorted { $0.precedes($1) }
    subscriptions = Dictionary(grouping: transactions, by: \.originalKey)
  }
}

/// Transactions in the sandbox according to events: not every snapshot contains the environment.
struct SandboxIDs {
  /// Transactions that are only in the sandbox.
  private var transactions: Set<Int64> = []
  /// Original ids of subscriptions that are only in the sandbox.
  private var originals: Set<Int64> = []

  init(_ sandbox: [LineageInput], besides production: [LineageInput]) {
    guard !sandbox.isEmpty else { return }
    func keys(_ lineages: [LineageInput]) -> Set<Int64> {
      Set(lineages.flatMap { $0.latest.transactions + [$0.originalKey] })
    }
    transactions = Set(sandbox.flatMap(\.latest.transactions))
      .subtracting(production.flatMap(\.latest.transactions))
    originals = keys(sandbox).subtracting(keys(production))
  }

  func holds(_ transaction: SnapshotTransaction) -> Bool {
    guard !transactions.isEmpty || !originals.isEmpty else { return false }
    let original = transaction.originalID
    return transactions.contains(transactionKey(transaction.id))
      || !original.isEmpty && originals.contains(transactionKey(original))
  }
}

extension Entitlement {
  /// Whether access is on, by the flag or else by the end; nil when neither was sent.
  func isActive(at instant: Instant) -> Bool? { isActive ?? expiresAt.map { $0 > instant } }

  /// Whether the entitlement comes from a subscription.
  var isSubscription: Bool {
    switch renewState {
    case .nonRenewable: false
    case .willRenew, .canceled, .billingIssue: true
    case .unknown, nil: expiresAt != nil
    }
  }

  /// Its newest transaction, which its state describes.
  var newestTransaction: SnapshotTransaction? { transactions.max { $0.order < $1.order } }

  /// Whether it comes before `other`, by all fields that are compared with events.
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
