public import Domain
public import EventStore

/// What the reports cover, and how to print them.
public struct ReportPlan: Sendable {
  /// As-of, time zone, waiting times and watermarks that the fold used.
  public var rules: FoldSettings
  /// The number of this run in the ledger; breaks that it resolved are still shown.
  public var run: Int64
  /// How lines end and begin.
  public var dialect = CSVDialect.rfc4180
  /// Decimals (0–6) to which amounts are rounded, half to even; nil prints them exactly.
  public var amountDecimals: Int?
  /// The feeds with cells; nil to read them from the cells.
  public var feeds: Set<Feed>?
  /// Months of the previous set that need not be written again; nil for none.
  public var previous: PreviousMonths?
  /// The decisions that an earlier run used, by run number, to find those that changed.
  public var previousDecisions: @Sendable (Ledger, Int64) throws -> [Decision] = { _, _ in [] }
  /// Returns a ledger with the events of archives after `archive` and everything that belongs to
  /// them; by default the ledger itself, which contains all.
  public var arrivals: @Sendable (Ledger, _ archive: Int32) throws -> Ledger = { own, _ in own }
  /// The number of the signal that asked to stop, or 0; called between periods, on any thread.
  public var stop: @Sendable () -> Int32 = { 0 }

  /// A plan for exact amounts in RFC 4180, as of run number `run`.
  public init(rules: FoldSettings, run: Int64) {
    self.rules = rules
    self.run = run
  }

  /// Throws if a signal asked to stop.
  public func checkStop() throws(SubledgerError) {
    try SubledgerError.check(stop)
  }
}
