public import Domain

/// The run that new input belongs to: the one that will publish it.
///
/// It is the run that `beginRun` carries on or begins next, so that what an earlier run knew are
/// the archives up to a number.
struct ArrivalRun {
  let number: Int64

  init(number: Int64) { self.number = number }

  init(in database: Connection) throws {
    number =
      try database.first(
        """
        select coalesce(
          (select min(id) from run where published is null), (select max(id) + 1 from run), 1)
        """
      ) { $0.int64(0) } ?? 1
  }

  /// The last archive that an earlier run knew, or that the cells contain; 0 for none.
  func published(in database: Connection) throws -> Int32 {
    try database.first(
      """
      select max(
        coalesce((select id from archive where run < ? order by id desc limit 1), 0),
        coalesce((select archive from fold), 0))
      """, number
    ) { Int32(truncatingIfNeeded: $0.int64(0)) } ?? 0
  }
}

extension Ledger {
  /// The number of the run that publishes next.
  public func nextRun() throws(SubledgerError) -> Int64 { try arrivalRun().number }

  func arrivalRun() throws(SubledgerError) -> ArrivalRun {
    if let replayedRun { return ArrivalRun(number: replayedRun) }
    return try access("number a run") { try ArrivalRun(in: $0) }
  }
}
