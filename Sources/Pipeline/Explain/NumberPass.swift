import EventStore
import Reconciliation
import Reports
import Subscriptions
import Domain

/// The sums of the contributions in the requested rows, by column.
struct ColumnSums {
  private(set) var sums: [String: Int128] = [:]
  private(set) var unknown: [String: Int64] = [:]
  /// How many entries carry a share of the column.
  private(set) var entries: [String: Int64] = [:]

  mutating func add(_ share: ColumnContribution, weight: Int64) {
    sums[share.column, default: 0] += Int128(share.value) * Int128(weight)
    if share.isUnknown { unknown[share.column, default: 0] += 1 }
    entries[share.column, default: 0] += 1
  }
}

/// The ledger folded once more, and what of it makes up the cells asked for.
struct NumberPass {
  let ledger: Ledger
  let rules: ReconciliationSettings
  let question: NumberQuestion
  let doubts: Set<ChurnInDoubt>
  let words: EventWords
  let store: EntryStore
  let checkStop: () throws(SubledgerError) -> Void
  private(set) var facts = Facts()
  private(set) var sums = ColumnSums()
  private let span: RowSpan
  private let doubtsByLineage: [Int64: [ChurnInDoubt]]

  init(
    _ question: NumberQuestion, in ledger: Ledger, rules: ReconciliationSettings,
    doubts: Set<ChurnInDoubt>, checkStop: @escaping () throws(SubledgerError) -> Void
  ) throws {
    self.ledger = ledger
    self.rules = rules
    self.question = question
    self.doubts = doubts
    self.checkStop = checkStop
    words = EventWords(ledger)
    store = try EntryStore(ledger)
    span = RowSpan(question, rules.fold)
    doubtsByLineage = Dictionary(grouping: doubts, by: \.lineage)
  }

  /// Walks over all fold groups; keeps the facts of all, and the entries that are asked for.
  mutating func run() throws {
    var groups = 0
    try ledger.forEachGroup { group, events in
      groups += 1
      if groups % 512 == 0 { try checkStop() }
      if question.report == .deliveriesDaily { try explainDeliveries(events, group) }
      for life in try lives(of: events, rules: rules.fold) {
        try life.book(into: &facts)
        try explain(life, group)
      }
    }
    facts.book(doubts, 1, rules.fold.calendar)
  }

  /// Counts a contribution that is not a subscription's.
  mutating func add(_ share: ColumnContribution) { sums.add(share, weight: 1) }

  private mutating func explain(_ life: SubscriptionHistory, _ group: [LineageRow]) throws {
    let shares = try life.shares()
    for share in shares { try keep(share.cell, share, of: life, group) }
    guard !doubtsByLineage.isEmpty, let lineage = life.state?.lineage,
      let ends = doubtsByLineage[lineage]
    else { return }
    for end in ends {
      let key = MovementKey(
        month: rules.fold.calendar.month(of: end.at), productKey: end.productKey,
        movement: .churnedInDoubt)
      var one = MovementSums()
      one.subscriptions = 1
      let churned = shares.first { $0.at == end.at && $0.isChurn }
      try keep(.movement(key, one), churned, of: life, group)
    }
  }

  private mutating func keep(
    _ cell: Contribution.Cell, _ share: Contribution?, of life: SubscriptionHistory,
    _ group: [LineageRow]
  ) throws {
    let columns = question.columns(of: cell)
    guard !columns.isEmpty else { return }
    let keys = ContributionKeys(cell: cell, words: ledger.symbols.words)
    guard question.fits(keys) else { return }
    var shown: [(column: String, text: String)] = []
    for column in columns where question.lists(column.column) {
      let weight = span.weight(column.span, keys)
      guard weight != 0 else { continue }
      sums.add(column, weight: weight)
      shown.append((column.column, text(column, weight)))
    }
    guard !shown.isEmpty else { return }
    let evidence = share.map(life.evidence(of:)) ?? []
    var entry = Entry(at: share?.at, step: cell.step, shares: shown)
    entry.events = try words.lines(evidence, group)
    if question.report == .coverage { entry.step = columns.map(\.column).joined(separator: ", ") }
    try store.add(entry)
  }

  /// The copy that the ledger keeps of each event, by the day on which it came.
  private mutating func explainDeliveries(_ events: [Event], _ group: [LineageRow]) throws {
    guard question.listed.contains("delivered") else { return }
    for event in events {
      let came = event.arrivedAt
      let key = ArrivalKey(
        day: CivilCalendar.utc.day(of: came), provider: event.provider, kind: event.kind)
      let keys = ContributionKeys(cell: .arrival(key, ArrivalSums()), words: ledger.symbols.words)
      guard question.fits(keys), span.weight(.during, keys) != 0 else { continue }
      sums.add(ColumnContribution(column: "delivered", value: 1), weight: 1)
      let proof = SourceEvent(event: event, told: event)
      try store.add(
        Entry(
          at: event.time, step: "delivered", shares: [("delivered", "1")],
          events: try words.lines([proof], group)))
    }
  }

  private func text(_ share: ColumnContribution, _ weight: Int64) -> String {
    if share.isUnknown { return "" }
    let value = Int128(share.value) * Int128(weight)
    return numberText(value, isAmount: question.isAmount(share.column))
  }
}

extension NumberQuestion {
  func isAmount(_ column: String) -> Bool {
    columns.first { $0.name == column }?.type == "number"
  }
}

/// A count, or millionths as reports print amounts.
func numberText(_ value: Int128, isAmount: Bool) -> String {
  guard isAmount else { return "\(value)" }
  guard let micros = Int64(exactly: value) else { return "\(value) millionths" }
  return Amount(micros: micros).text()
}

extension Contribution {
  var isChurn: Bool {
    guard case .movement(let key, let sums) = cell else { return false }
    return key.movement == .churned && sums.subscriptions > 0
  }
}
