import EventStore
import Reconciliation
import Domain

/// The missing charges that events alone prove, estimated by what everybody paid.
///
/// The fold finds them before it has read all charges, so that their groups are read again; they
/// are few.
struct PricePass {
  let ledger: Ledger
  /// By rules with the prices and rates of all charges.
  let fold: GroupFold
  let jobs: Int

  /// The breaks of some groups.
  func breaks(of groups: Set<Int64>) throws -> [Break] {
    guard !groups.isEmpty else { return [] }
    let keys = groups.sorted()
    let size = max(64, min(4_096, keys.count / jobs + 1))
    let parts = stride(from: 0, to: keys.count, by: size).map {
      keys[$0..<min($0 + size, keys.count)]
    }
    var breaks: [Break] = []
    let fold = fold
    try Workers(count: jobs, waitingMax: 2).read(ledger, parts) { ledger, part in
      let cases = InputBuilder(ledger: ledger, rules: fold.rules.fold)
      let isLinked = try ledger.isLinked()
      var found: [Break] = []
      for key in part {
        guard let row = try ledger.lineage(key) else { continue }
        let group = try LinkedGroups.Part(
          of: row, in: ledger, isLinked: isLinked, rules: fold.rules.fold)
        found += try fold.priced(group, cases)
      }
      return found
    } take: { part in
      breaks += part
    }
    return breaks
  }
}
