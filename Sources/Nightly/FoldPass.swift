import Ledger
import Reconcile
import Timeline
import Vocabulary

/// Ledger → facts: every fold group is folded once, stretches of the ledger in parallel.
struct FoldPass {
  let ledger: Ledger
  let cases: CaseBuilder
  let fold: GroupFold
  /// How many stretches are folded at once.
  let jobs: Int
  let checkStop: () throws(NightError) -> Void

  func run() throws(NightError) -> FoldResult {
    var result = FoldResult()
    let stretch = LineageStretch(path: ledger.path, fold: fold)
    try attempt {
      // Small stretches have few cells, so that adding them up takes no more memory than the sum,
      // and goes on beside the folding. Word that one goes on may wait without end.
      try Workers(count: jobs, waitingMax: .max).run(lineageKeys(shares: jobs * 4), stretch.fold) {
        _, message in
        switch message {
        case .going: try checkStop()
        case .folded(let part): try result.add(part)
        case .failed(let error): throw error
        }
      }
    }
    let across = AcrossLineages(
      ledger: ledger, cases: cases, rules: fold.rules, checkStop: checkStop)
    result.breaks += try across.conflicts { _ in true }
    result.breaks += try across.exchangeOutliers(ExchangeOutliers(result.rates))
    result.breaks += try across.environmentLeaks()
    return result
  }
}

/// All keys of lineages and users in `shares` stretches; keys are fingerprints, so equal widths
/// hold about equally many.
func lineageKeys(shares: Int) -> [ClosedRange<Int64>] {
  let width = UInt64.max / UInt64(max(1, shares))
  // Flipping the sign bit keeps the order from unsigned to signed.
  let starts = (0..<max(1, shares)).map { Int64(bitPattern: UInt64($0) * width ^ 1 << 63) }
  return starts.indices.map { index in
    starts[index]...(index + 1 < starts.count ? starts[index + 1] - 1 : .max)
  }
}

/// The parallel part: the fold groups of one stretch, by a connection of its own.
private struct LineageStretch: Sendable {
  /// What a worker tells, in this order.
  enum Message: Sendable {
    /// Some hundred groups more are done.
    case going
    case folded(FoldResult)
    case failed(any Error)
  }

  let path: String
  let fold: GroupFold

  private struct NotWanted: Error {}

  func fold(_ keys: ClosedRange<Int64>, _ tell: (Message) -> Bool) {
    do {
      var result = FoldResult()
      let ledger = try Ledger.open(path: path, mode: .readOnly)
      let cases = CaseBuilder(ledger: ledger, rules: fold.rules.rules)
      try ledger.forEachGroup(keys: keys) { rows, events in
        try fold.fold(rows, events, cases, into: &result)
        guard result.groups % 512 > 0 || tell(.going) else { throw NotWanted() }
      }
      _ = tell(.folded(result))
    } catch is NotWanted {
      // The night was stopped and says so itself.
    } catch {
      _ = tell(.failed(error))
    }
  }
}
