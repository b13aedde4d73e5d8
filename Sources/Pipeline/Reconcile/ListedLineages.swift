import Domain
import EventStore

/// The lineages of the original transaction ids in a user's snapshots, in any app and store, except
/// the user's own lineages.
struct ListedLineages {
  /// Lineages of other users, by key.
  var foreign: [Int64: LineageRow] = [:]
  /// Keys of lineages that no event has reported.
  var unreported: Set<Int64> = []

  /// Adds the lineages of one snapshot, and returns those of other users.
  ///
  /// - Parameters:
  ///   - apps: the provider's apps, for a snapshot without an app.
  ///   - known: the keys of all lineages; nil when looking up a few is cheaper.
  mutating func add(
    _ snapshot: Snapshot, besides rows: [LineageRow], apps: [String], _ known: KeyFilter?,
    in ledger: Ledger
  ) throws -> [LineageRow] {
    let own = Set(rows.map(\.key))
    let apps = snapshot.app.isEmpty ? apps : [snapshot.app]
    var seen: Set<Int64> = []
    var found: [Int64: LineageRow] = [:]
    // A purchase that a family member shares belongs to the payer.
    for entitlement in snapshot.entitlements where entitlement.grant != .familySharing {
      let stores = entitlement.store.possible
      for transaction in entitlement.transactions where transaction.grant == .purchase {
        let first = lineageKey(of: transaction, snapshot, app: "", entitlement.store)
        guard seen.insert(first).inserted else { continue }
        let keys = apps.flatMap { app in
          stores.map { lineageKey(of: transaction, snapshot, app: app, $0) }
        }
        var isReported = !own.isDisjoint(with: keys)
        for key in keys where !own.contains(key) && known?.mayContain(key) != false {
          guard let row = try ledger.lineage(key) else { continue }
          found[key] = row
          isReported = true
        }
        if !isReported { unreported.formUnion(keys) }
      }
    }
    foreign.merge(found) { first, _ in first }
    return found.values.sorted { $0.key < $1.key }
  }
}

private func lineageKey(
  of transaction: SnapshotTransaction, _ snapshot: Snapshot, app: String, _ store: Store
) -> Int64 {
  lineageKey(
    provider: snapshot.provider, app: app, environment: transaction.environment, store: store,
    original: transaction.originalID.isEmpty ? transaction.id : transaction.originalID)
}
