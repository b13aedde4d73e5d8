public import Domain
public import EventStore

/// What the reports cover and how they are printed.
public struct ReportPlan: Sendable {
  /// As-of, time zone, waiting times and watermarks, as the fold used them.
  public var rules: FoldSettings
  /// The ledger's number of this run; breaks that it resolved are still shown.
  public var run: Int64
  /// How lines end and begin.
  public var dialect = CSVDialect.rfc4180
  /// Decimals (0–6) that amounts are rounded to, half to even; nil prints them exactly.
  public var amountDecimals: Int?
  /// The feeds that the cells count; nil to read them from the cells.
  public var feeds: Set<Feed>?
  /// What months of the set before need not be written again; nil for none.
  public var former: FormerMonths?
  /// The decisions that an earlier run followed, by its number, to see which ones have changed.
  public var formerDecisions: @Sendable (Ledger, Int64) throws -> [Decision] = { _, _ in [] }
  /// A ledger with the events of archives behind one, and all that belongs to them; the ledger
  /// itself holds all.
  public var arrivals: @Sendable (Ledger, _ archive: Int32) throws -> Ledger = { own, _ in own }
  /// Answers the signal that asked to stop, 0 while none did; asked between periods, by any thread.
  public var stop: @Sendable () -> Int32 = { 0 }

  /// Exact amounts in RFC 4180, as seen by run number `run`.
  public init(rules: FoldSettings, run: Int64) {
    self.rules = rules
    self.run = run
  }

  /// Throws when a signal asked to stop.
  public func checkStop() throws(SubledgerError) {
    try SubledgerError.check(stop)
  }
}
