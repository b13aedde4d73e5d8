import EventStore
import Domain
import Reconciliation

/// The breaks of a run beside what people decided about them.
struct DecidedBreaks {
  let breaks: [Break]
  /// Each under the id of the break that it is about, where it names that by its transaction, or as
  /// the charges that were missing before one of them came.
  var decisions: [Decision] { decided.values.sorted { $0.breakID < $1.breakID } }
  private var decided: [String: Decision] = [:]

  /// - Parameter former: an earlier break by its id.
  init(
    _ breaks: [Break], _ given: [Decision], former: (String) throws -> Break? = { _ in nil }
  ) throws {
    self.breaks = breaks
    guard !given.isEmpty else { return }
    let named = Dictionary(
      breaks.compactMap { found in found.idOfTransaction.map { ($0, found.id) } }
    ) { first, _ in first }
    let current = Set(breaks.map(\.id))
    for decision in given {
      var decision = decision
      let id = decision.breakID
      if !current.contains(id) {
        // Of several charges that were one break, the first may have come.
        let later = try named[id] ?? former(id)?.idsOfLaterCharges.first(where: current.contains)
        decision.breakID = later ?? id
      }
      // What names the break itself counts.
      if decided[decision.breakID] == nil || decision.breakID == id {
        decided[decision.breakID] = decision
      }
    }
  }

  /// What still stands; a decided break leaves all gates.
  var undecided: [Break] {
    decided.isEmpty ? breaks : breaks.filter { decided[$0.id] == nil }
  }

  /// Ids of decisions while no break of the run has them: they came too early, name nothing, or
  /// their break was resolved.
  var unused: [String] {
    let current = Set(breaks.map(\.id))
    return decisions.map(\.breakID).filter { !current.contains($0) }
  }

  /// For the manifest.
  var counts: [String: Int64] {
    let used = breaks.compactMap { decided[$0.id]?.verdict }
    return [
      "breaks_explained": Int64(used.count { $0 == .explained }),
      "breaks_written_off": Int64(used.count { $0 == .writtenOff }),
      "decisions": Int64(decided.count),
      "decisions_unused": Int64(unused.count),
    ]
  }
}

extension [Break] {
  /// Sorts by id, and of breaks with one id keeps the last.
  mutating func sortKeepingLastOfEachID() {
    var places: [String: Int] = [:]
    for (place, item) in enumerated() { places[item.id] = place }
    if places.count < count { self = indices.filter { places[self[$0].id] == $0 }.map { self[$0] } }
    sort { $0.id < $1.id }
  }
}
