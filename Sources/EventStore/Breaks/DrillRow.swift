public import Domain

/// How many of a drill's damages were found, for one code that must show them.
public struct DrillRow: Equatable, Sendable {
  /// A break's code, `duplicate`, or a kind of event.
  public let code: String
  /// Number of damages that the code must show.
  public var injected: Int64 = 0
  /// How many of these a break, or a count, showed.
  public var found: Int64 = 0
  /// How many of `found` are losses that another `MISSED_` code reported.
  public var renamed: Int64 = 0
  /// How many of `injected` the data cannot show, by reason.
  public var unrevealed: [String: Int64] = [:]
  /// Breaks, or counts, that no damage explains.
  public var wrong: Int64 = 0
  /// How many of `injected` were not found although the data shows them.
  public var missed: Int64 { injected - found - unrevealed.values.reduce(0, +) }

  /// Creates a row of zeros.
  public init(code: String) { self.code = code }
}

extension Ledger {
  /// Stores the result of a drill, as of a business time, for the sets that later runs publish; it
  /// replaces an earlier drill since the newest run.
  public func keep(_ drill: [DrillRow], asOf: Instant) throws(SubledgerError) {
    try change("keep what the drill measured") { database in
      let run = try database.first("select coalesce(max(id), 0) from run") { $0.int64(0) } ?? 0
      try database.run("delete from drill where run = ?", run)
      for row in drill {
        try database.run(
          "insert into drill values (?, ?, ?, ?, ?, ?, ?, ?, ?)", run, row.code, asOf,
          row.injected, row.found, row.renamed, row.missed,
          row.unrevealed.values.reduce(0, +), row.wrong)
      }
    }
  }
}
