public import Domain
public import EventStore

/// Writes rows of the list of charges, on any thread.
public final class ChargeRowWriter: Sendable {
  /// The CSV dialect of the rows.
  public let dialect: CSVDialect
  private let decimals: Int?
  private let labels: Labels
  /// The cell and the run of each archive, at its number.
  private let archives: [(cell: [UInt8], run: Int64)]
  private let runs: PublishingRuns
  /// Whether any app's own ids of users are stored.
  public let hasCustomerIDs: Bool
  /// Reads what the ledger stores of events besides their content.
  public let sources: EventSourceReader

  /// A writer for the charges of `ledger`, which must contain all their events.
  public init(
    of ledger: Ledger, rules: FoldSettings, dialect: CSVDialect, decimals: Int?
  ) throws {
    (self.dialect, self.decimals) = (dialect, decimals)
    var archives: [(cell: [UInt8], run: Int64)] = []
    try ledger.rows(
      sql: "select id, name, run from archive where kind = 'events' order by id"
    ) { row in
      var line = CSVLine(dialect)
      line.add(name: row.text(1))
      let missing = Int(row.number(0)) - archives.count
      archives += repeatElement(([], 1), count: missing) + [(line.buffer, row.number(2))]
    }
    self.archives = archives
    labels = try Labels(of: ledger, in: dialect)
    runs = try ledger.publishingRuns(next: rules.asOf)
    sources = try EventSourceReader(ledger)
    hasCustomerIDs = try ledger.hasCustomerIDs()
  }

  /// The printed cells that all rows of a subscription of `user` share; `customer` is the app's own
  /// id of the user.
  public func owner(user: String, customer: String, subscription: String) -> [UInt8] {
    var line = CSVLine(dialect)
    line.add(text: user)
    line.add(text: customer)
    line.add(text: subscription)
    return line.buffer
  }

  /// Adds a row with the provenance of its events, from `sources` and the archives up to `archive`.
  public func add(
    _ charge: BookedCharge, of owner: [UInt8], _ sources: EventSources, knownBy archive: Int32,
    to part: inout ChargePart
  ) throws(SubledgerError) {
    let day = charge.row.day
    let start = part.startRow()
    try write(charge, of: owner, sources, to: &part.lines)
    writeArrival(of: charge, sources, knownBy: archive, to: &part.lines)
    part.endRow(from: start, charge.event.time, day)
    part.totals[day.month, default: ChargeTotals()].add(charge, decimals: decimals)
  }

  private func write(
    _ charge: BookedCharge, of owner: [UInt8], _ sources: EventSources,
    to line: inout CSVLine
  ) throws(SubledgerError) {
    func word(_ number: StringID, _ line: inout CSVLine) throws(SubledgerError) {
      try labels.add(Int64(number), .symbol, to: &line)
    }
    let (row, key) = (charge.row, charge.row.productKey)
    line.add(charge.event.time)
    try labels.add(Int64(key.provider.rawValue), .provider, to: &line)
    try word(key.app, &line)
    try labels.add(Int64(key.store.rawValue), .store, to: &line)
    line.add(
      transaction: charge.event.transaction, sources.transactions[charge.event.transaction])
    line.add(plain: charge.isRefund ? "refund" : "charge")
    try labels.add(Int64(row.chargeKind.rawValue), .chargeKind, to: &line)
    try word(key.product, &line)
    line.add(cells: owner)
    if let ordinal = charge.renewalOrdinal { line.add(ordinal) } else { line.addNothing() }
    if let start = charge.periodStart { line.add(start) } else { line.addNothing() }
    if let end = charge.periodEnd { line.add(end) } else { line.addNothing() }
    try word(row.country, &line)
    try word(row.storefront, &line)
    try word(row.currency, &line)
    try word(charge.offer, &line)
    line.add(Int64(charge.event.units))
    line.add(charge.grossLocal, decimals)
    line.add(charge.proceedsLocal, decimals)
    line.add(charge.grossUSD, decimals)
    line.add(charge.proceedsUSD, decimals)
    line.add(row.rate, nil, least: 0)
    try labels.add(Int64(row.basis.rawValue), .basis, to: &line)
    let refunded = charge.refunded?.transaction
    line.add(transaction: refunded ?? 0, refunded.flatMap { sources.transactions[$0] })
  }

  private func writeArrival(
    of charge: BookedCharge, _ sources: EventSources, knownBy newest: Int32,
    to line: inout CSVLine
  ) {
    func archive(_ number: Int32) -> (cell: [UInt8], run: Int64) {
      archives.indices.contains(Int(number)) ? archives[Int(number)] : ([], 1)
    }
    func run(_ number: Int32) -> Int64 {
      runs.first(from: archive(number).run, reporting: charge.event.time)
    }
    let own = sources.arrival(
      of: charge.event.identity, at: charge.event.place, knownBy: newest)
    let refunded = charge.refunded.map {
      sources.arrival(of: $0.identity, at: $0.place, knownBy: newest).last
    }
    let last = max(own.last, refunded ?? own.last)
    line.add(Int64(own.versions))
    line.add(cells: archive(charge.event.place.archive).cell)
    line.add(charge.event.place.line)
    let first = run(own.first)
    line.add(first)
    line.add(last == own.first ? first : run(last))
  }
}

extension CSVLine {
  /// Adds a cell with a transaction id: the text if there is one, else the number.
  mutating func add(transaction key: Int64, _ text: String?) {
    if let text { add(text: text) } else if key == 0 { addNothing() } else { add(id: key) }
  }

  /// Adds an amount rounded to `decimals`, or exact, with `least` of them even if they are zeros.
  mutating func add(_ amount: Amount?, _ decimals: Int?, least: Int = 2) {
    guard let micros = amount?.micros else { return addNothing() }
    add(micros: rounded(micros, decimals: decimals), decimals: min(least, decimals ?? least))
  }
}
