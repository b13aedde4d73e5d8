import EventStore
import Reconciliation
import Reports
import Subscriptions
import Domain

/// The contributions to one column in the requested rows.
struct ColumnSum {
  /// Sums by the currency of amounts; others have no currency.
  private(set) var sums: [String: Int128] = [:]
  private(set) var unknown: Int64 = 0
  private(set) var entries: Int64 = 0

  mutating func add(_ contribution: ColumnContribution, currency: String = "") {
    sums[currency, default: 0] += Int128(contribution.value)
    if contribution.isUnknown { unknown += 1 }
    entries += 1
  }
}

/// A new fold of the ledger that collects the contributions to the requested cells.
struct NumberPass {
  let ledger: Ledger
  let rules: ReconciliationSettings
  let question: NumberQuestion
  let output: Explanation
  private(set) var facts = Facts()
  var sums: [String: ColumnSum] = [:]
  private let doubts: [Int64: [ChurnInDoubt]]
  private let records: EventRecords

  init(
    _ question: NumberQuestion, in ledger: Ledger, rules: ReconciliationSettings,
    doubts: Set<ChurnInDoubt>, output: Explanation
  ) {
    self.ledger = ledger
    self.rules = rules
    self.question = question
    self.output = output
    self.doubts = Dictionary(grouping: doubts, by: \.lineage)
    records = EventRecords(ledger)
    facts.book(doubts, 1, rules.fold.calendar)
  }

  /// Walks over all fold groups; stores the facts of all, and the requested entries.
  mutating func run() throws {
    try ledger.forEachGroup(linked: true) { group, events in
      for history in try countedHistories(group, events, rules: rules.fold) {
        try history.book(into: &facts)
        try explain(history, group)
      }
    }
  }

  private mutating func explain(_ history: SubscriptionHistory, _ group: [LineageRow]) throws {
    let contributions = try history.shares()
    for found in contributions { try keep(found.cell, found, of: history, group) }
    guard !doubts.isEmpty else { return }
    let ends = history.lineages.flatMap { doubts[$0] ?? [] }
    // A subscription that several providers report has several histories.
    for end in ends where history.churns(at: end.at, in: end.productKey) {
      let key = MovementKey(
        month: rules.fold.calendar.month(of: end.at), productKey: end.productKey,
        movement: .churnedInDoubt)
      let churned = contributions.first { $0.at == end.at && $0.isChurn }
      try keep(.movement(key, MovementSums(subscriptions: 1)), churned, of: history, group)
    }
  }

  private mutating func keep(
    _ cell: Contribution.Cell, _ source: Contribution?, of history: SubscriptionHistory,
    _ group: [LineageRow]
  ) throws {
    let columns = question.report.columns(of: cell)
    guard !columns.isEmpty else { return }
    let keys = ContributionKeys(cell, words: ledger.symbols.words)
    guard question.fits(keys) else { return }
    var shown: [(column: String, text: String)] = []
    for column in columns
    where question.listed.contains(column.column)
      && question.counts(column, keys, by: rules.fold)
    {
      let isLocal = question.column(column.column)?.addition == .perCurrency
      let currency = isLocal ? cellText(keys.texts["currency"] ?? "") : ""
      sums[column.column, default: ColumnSum()].add(column, currency: currency)
      shown.append((column.column, question.text(column)))
    }
    guard !shown.isEmpty else { return }
    var entry = Entry(at: source?.at, step: cell.step, contributions: shown)
    entry.events = try records.records(of: source.map(history.evidence(of:)) ?? [], group)
    try output.add(entry)
  }
}

extension Contribution {
  var isChurn: Bool {
    guard case .movement(let key, let sums) = cell else { return false }
    return key.movement == .churned && sums.subscriptions > 0
  }
}
