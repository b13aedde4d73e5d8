public import Domain

/// The changes that a fold makes to the ledger's cells.
public struct FoldChange {
  /// The checkpoint of the changed cells.
  public var basis: FactCheckpoint
  /// Whether everything was folded, so that the stored facts are replaced.
  public var isWhole = true
  /// All facts, or changes to the stored ones.
  public var facts: Facts
  /// Revenue of a whole fold that did not fit into the memory of `facts`.
  public var revenueSpill: RevenueSpill?
  /// When the folded groups are due next.
  public var due: [DueLineage] = []
  /// All ends in doubt.
  public var doubts: Set<ChurnInDoubt> = []
  /// The rates of all days, or of the changed ones.
  public var rates = ExchangeRates()
  /// Number of renewals per price: all, or the changes.
  public var prices: [PaidPrice: Int64] = [:]
  /// Charges that several providers report, for all subscriptions or for `linked` alone.
  public var overlaps: [OverlapRow] = []
  /// The folded lineages that report the same transactions as others.
  public var linked: Set<Int64> = []
  /// Results of the comparison with snapshots, for all compared users, in parts.
  public var users: [[ReconciledUser]] = []
  /// Whether every user was compared.
  public var isEveryUser = true

  /// Creates a change with the cells of `facts`, from a full fold unless `isWhole` is set to false.
  public init(basis: FactCheckpoint, facts: Facts) {
    self.basis = basis
    self.facts = facts
  }
}

extension Ledger {
  /// Begins to change the cells; returns the rows of the facts, which any thread can create.
  ///
  /// Pass all of them to `write`, in order; then `finish` writes the rest. Inside `together`, the
  /// cells change in one transaction.
  public func begin(_ change: FoldChange) throws(SubledgerError) -> [RowPiece<CellRows>] {
    if change.isWhole {
      try access("write the facts") { database in
        for table in Facts.tables + ["price_cell", "rate_cell", "overlap", "due"] {
          try database.execute("delete from \(table)")
        }
      }
    }
    return change.facts.pieces
  }

  /// Writes rows of one table of facts.
  public func write(_ rows: CellRows, of change: FoldChange) throws(SubledgerError) {
    try access("write the facts") { database in
      try change.isWhole ? rows.insert(in: database) : rows.add(in: database)
    }
  }

  /// Adds cells to those that are already written.
  public func add(_ rows: CellRows) throws(SubledgerError) {
    try access("write the facts") { try rows.add(in: $0) }
  }

  /// Writes everything of a fold except its facts.
  public func finish(_ change: FoldChange) throws(SubledgerError) {
    try self.change("write the facts") { database in
      try change.revenueSpill?.insert(in: database)
      try write(change.prices.cells, of: change)
      try write(change.rates, to: database)
      try write(change.doubts, to: database)
      let linked = change.isWhole ? [] : change.linked
      try write(change.overlaps, insteadOf: linked, to: database)
      try write(change.due, after: change.basis.asOf, to: database)
      try write(
        change.users, areAll: change.isEveryUser, asOf: change.basis.asOf, to: database)
      try write(change.basis, to: database)
    }
  }

  /// Returns for each feed how many events arrived per UTC hour, numbered since 1970-01-01.
  public func arrivals() throws(SubledgerError) -> [Feed: [(hour: Int64, events: Int64)]] {
    let arrivals = try all(
      "count arrivals",
      "select provider, app, day * 24 + hour, events from coverage_cell where gap = ?",
      Int64(CoverageGap.arrival.rawValue)
    ) { (try $0.feed(0), (hour: $0.int64(2), events: $0.int64(3))) }
    return Dictionary(grouping: arrivals, by: \.0).mapValues { $0.map(\.1) }
  }

  /// Returns the net amount of some days: gross before commission less refunds, in US dollars,
  /// without unknown amounts.
  ///
  /// - Parameter app: nil for all apps of the provider.
  public func netUSD(
    of days: ClosedRange<Day>, provider: Provider, app: StringID?
  ) throws(SubledgerError) -> Int128 {
    try all(
      "add up revenue",
      """
      select gross_usd - refunds_usd from revenue_cell
      where day between ? and ? and provider = ? and app = coalesce(?, app)
      """, days.lowerBound, days.upperBound, provider, app
    ) { Int128($0.int64(0)) }.reduce(0, +)
  }

  /// Returns the same net amount of a month.
  public func netUSD(of month: Month) throws(SubledgerError) -> Int128 {
    try all(
      "add up revenue",
      "select gross_usd - refunds_usd from revenue_month_cell where month = ?", month
    ) { Int128($0.int64(0)) }.reduce(0, +)
  }
}
