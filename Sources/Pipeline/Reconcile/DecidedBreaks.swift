import EventStore
import Domain

/// The breaks of a run beside what people decided about them.
struct DecidedBreaks {
  private let breaks: [Break]
  private let verdicts: [String: Decision.Verdict]

  init(_ breaks: [Break], _ decisions: [Decision]) {
    self.breaks = breaks
    verdicts = Dictionary(
      decisions.map { ($0.breakID, $0.verdict) }, uniquingKeysWith: { first, _ in first })
  }

  /// What still stands; a decided break leaves all gates.
  var undecided: [Break] { breaks.filter { verdicts[$0.id] == nil } }

  /// For the manifest.
  ///
  /// A decision is unused while no break of the run has its id: it came too
  /// early, names nothing, or its break was resolved.
  var counts: [String: Int64] {
    let used = breaks.compactMap { verdicts[$0.id] }
    return [
      "breaks_explained": Int64(used.count { $0 == .explained }),
      "breaks_written_off": Int64(used.count { $0 == .writtenOff }),
      "decisions": Int64(verdicts.count),
      "decisions_unused": Int64(verdicts.count - used.count),
    ]
  }
}
