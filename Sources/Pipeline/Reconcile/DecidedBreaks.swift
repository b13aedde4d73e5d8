import EventStore
import Domain
import Reconciliation

/// The breaks of a run with people's decisions about them.
struct DecidedBreaks {
  let breaks: [Break]
  /// The decisions, each with the id of the current break that it is about, even if it names that
  /// by its transaction, or by the id that the break had before one of its missing charges arrived.
  var decisions: [Decision] { decided.values.sorted { $0.breakID < $1.breakID } }
  private var decided: [String: Decision] = [:]

  /// - Parameter previous: returns an earlier break by its id.
  init(
    _ breaks: [Break], _ given: [Decision], previous: (String) throws -> Break? = { _ in nil }
  ) throws {
    self.breaks = breaks
    guard !given.isEmpty else { return }
    let named = Dictionary(
      breaks.flatMap { found in found.idsOfTransaction.map { ($0, found.id) } }
    ) { first, _ in first }
    let current = Set(breaks.map(\.id))
    for decision in given {
      var decision = decision
      let id = decision.breakID
      if !current.contains(id) {
        // When several missing charges are one break, the first of them may have arrived.
        let later = try named[id] ?? previous(id)?.idsOfLaterCharges.first(where: current.contains)
        decision.breakID = later ?? id
      }
      // A decision with the id of the break itself takes precedence.
      if decided[decision.breakID] == nil || decision.breakID == id {
        decided[decision.breakID] = decision
      }
    }
  }

  /// The breaks without a decision; a decided break no longer affects any gate.
  var undecided: [Break] {
    decided.isEmpty ? breaks : breaks.filter { decided[$0.id] == nil }
  }

  /// Ids of decisions without a break in the run: not found yet, unknown, or resolved.
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
  /// Sorts by id, and keeps the last of breaks with the same id.
  mutating func sortKeepingLastOfEachID() {
    var places: [String: Int] = [:]
    for (place, item) in enumerated() { places[item.id] = place }
    if places.count < count { self = indices.filter { places[self[$0].id] == $0 }.map { self[$0] } }
    sort { $0.id < $1.id }
  }
}
