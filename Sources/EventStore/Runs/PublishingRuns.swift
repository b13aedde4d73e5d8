public import Domain

/// The runs that have published and the one that will next.
public struct PublishingRuns: Sendable {
  private let runs: [(id: Int64, asOf: Instant)]

  /// The first run from `run` on that had what happened at `time` in its reports.
  public func first(from run: Int64, reporting time: Instant) -> Int64 {
    let start = runs.indices.partitioningIndex { runs[$0].id >= run }
    return runs[start...].first { $0.asOf > time }?.id ?? runs.last?.id ?? run
  }

  init(_ runs: [(id: Int64, asOf: Instant)]) { self.runs = runs }
}

extension Ledger {
  /// The runs that have published, followed by the one that publishes next, as of `asOf`.
  public func publishingRuns(next asOf: Instant) throws(SubledgerError) -> PublishingRuns {
    try access("read the runs") { database in
      let next = try ArrivalRun(in: database).number
      let runs = try database.all(
        "select id, as_of_ms from run where published is not null and id < ? order by id", next
      ) { (id: $0.int64(0), asOf: $0.instant(1)) }
      return PublishingRuns(runs + [(id: next, asOf: asOf)])
    }
  }
}
