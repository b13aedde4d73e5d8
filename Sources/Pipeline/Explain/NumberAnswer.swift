import EventStore
import Reconciliation
import Reports
import Domain

/// One number of the requested rows, and its parts.
struct ColumnAnswer {
  var column: String
  /// As the report prints it; empty when it is unknown.
  var value: String
  /// How it follows from other columns; empty for counted and booked columns.
  var arithmetic = ""
  /// How many entries carry it.
  var entries: Int64 = 0
  /// How many of them have no known amount.
  var unknown: Int64 = 0
  /// The sum of the known ones.
  var known = ""
  /// The value of the newest run, if it differs.
  var published: String?
  /// Notes for the reader.
  var note = ""
}

/// The answer to a question for numbers: the fold of the whole ledger, laid over its facts, and the
/// report's own query on it.
struct NumberAnswer {
  let question: NumberQuestion
  private(set) var totals = RowTotals()
  private(set) var columns: [ColumnAnswer] = []
  private var pass: NumberPass
  /// The steps whose entries make up a row of coverage; nil for all.
  private var steps: Set<String>?

  /// Folds the ledger; breaks come from `run`, the newest one.
  ///
  /// - Throws: `SubledgerError` of kind `identity` when events do not add up to the cell.
  init(
    _ question: NumberQuestion, in ledger: Ledger, rules: ReconciliationSettings, run: RunRow?,
    doubts: Set<ChurnInDoubt>, checkStop: @escaping () throws(SubledgerError) -> Void
  ) throws {
    self.question = question
    let plan = ReportPlan(rules: rules.fold, run: run?.id ?? 0)
    let isPublished = run.map { $0.asOf == rules.fold.asOf && $0.published != nil } ?? false
    var published = RowTotals()
    if isPublished { try published.take(question, from: ledger, plan) }
    pass = try NumberPass(
      question, in: ledger, rules: rules, doubts: doubts, checkStop: checkStop)
    try pass.run()
    if question.report == .qualityMonthly { try pass.explainBreaks(plan) }
    try ledger.layOver(pass.facts)
    try totals.take(question, from: ledger, plan)
    guard totals.rows > 0 else { return }
    steps = stepsOfCoverage
    for column in question.asked {
      try columns.append(answer(column, isPublished ? published : nil))
    }
  }

  /// Calls `body` at every entry that makes up the numbers, by business time.
  func forEachEntry(_ body: (Entry) throws -> Void) throws {
    try pass.store.forEach { entry in
      guard let steps else { return try body(entry) }
      let kept = entry.shares.filter { steps.contains($0.column) }
      for share in kept {
        var single = entry
        single.step = share.column
        single.shares = [("events", share.text)]
        try body(single)
      }
    }
  }

  private func answer(_ column: ReportColumn, _ published: RowTotals?) throws -> ColumnAnswer {
    guard let index = question.columns.firstIndex(where: { $0.name == column.name }) else {
      return ColumnAnswer(column: column.name, value: "")
    }
    let isAmount = question.isAmount(column.name)
    var answer = ColumnAnswer(column: column.name, value: totals.text(index, isAmount: isAmount))
    answer.arithmetic = arithmetic(of: column.name)
    let names = steps.map(Array.init) ?? [column.name]
    for name in names {
      answer.entries += pass.sums.entries[name] ?? 0
      answer.unknown += pass.sums.unknown[name] ?? 0
    }
    let sum = names.reduce(Int128(0)) { $0 + (pass.sums.sums[$1] ?? 0) }
    answer.known = numberText(sum, isAmount: isAmount)
    answer.note = note(column.name, sum)
    try check(column.name, totals.sum(index), sum)
    let before = published?.rows == 0 ? "no row" : published?.text(index, isAmount: isAmount)
    if let before, before != answer.value { answer.published = before }
    return answer
  }

  /// Whether the listed contributions add up to the printed number.
  private func check(_ column: String, _ printed: Int128?, _ sum: Int128) throws(SubledgerError) {
    guard let printed, printed != sum, question.hasEvents(column) else { return }
    let isAmount = question.isAmount(column)
    throw SubledgerError(
      .identity,
      "cannot explain \(column) of \(question.report.rawValue): its events come to "
        + "\(numberText(sum, isAmount: isAmount)), the report to "
        + "\(numberText(printed, isAmount: isAmount))",
      hint: "this is a bug: keep the ledger, and report the line above")
  }

  private func arithmetic(of column: String) -> String {
    switch question.report.formula(of: column) {
    case .sum(let parts): sum(parts)
    case .ratio(let part, let whole):
      "(\(sum(part))) / (\(sum(whole.map { (1, $0) })))"
    case nil: ""
    }
  }

  /// The parts with their values, without zeros except the first.
  private func sum(_ parts: [(factor: Int64, column: String)]) -> String {
    var text = ""
    for (place, part) in parts.enumerated() {
      guard let index = question.columns.firstIndex(where: { $0.name == part.column }) else {
        continue
      }
      let isAmount = question.isAmount(part.column)
      if place > 0, totals.sum(index) == 0 { continue }
      let value = totals.text(index, isAmount: isAmount)
      if place > 0 { text += part.factor < 0 ? " − " : " + " }
      if part.factor.magnitude > 1 { text += "\(part.factor.magnitude) × " }
      let known = rowsKnown(index, isAmount)
      text += "\(part.column) \(value.isEmpty ? known : value)"
    }
    return text
  }

  /// What of a column is known that some rows leave empty.
  private func rowsKnown(_ index: Int, _ isAmount: Bool) -> String {
    guard let known = totals.known(index) else { return "(unknown)" }
    return "(\(numberText(known, isAmount: isAmount)) known)"
  }

  private func note(_ column: String, _ sum: Int128) -> String {
    guard question.report == .deliveriesDaily, !question.hasEvents(column) else { return "" }
    return column == "delivered"
      ? "of each event the copy that counts is listed, by the day on which it came: \(sum) of "
        + "them; other copies are counted alone"
      : "the ledger keeps counts of it alone, no events"
  }

  /// The parts of a row of coverage: the set whose sum is its events.
  private var stepsOfCoverage: Set<String>? {
    guard question.report == .coverage else { return nil }
    let index = question.columns.firstIndex { $0.name == "events" }
    let printed = index.flatMap(totals.sum)
    let sets = CoverageAtom.sets(of: question.key(.metric) ?? "").map { Set($0.map(\.rawValue)) }
    return sets.first { set in
      printed == set.reduce(Int128(0)) { $0 + (pass.sums.sums[$1] ?? 0) }
    } ?? []
  }
}

extension NumberQuestion {
  /// Whether the ledger holds an event for everything that the column counts.
  func hasEvents(_ column: String) -> Bool {
    report != .deliveriesDaily || column == "out_of_order" || column == "late"
  }
}

extension RowTotals {
  /// Adds the rows asked for, as the report's query prints them.
  mutating func take(_ question: NumberQuestion, from ledger: Ledger, _ plan: ReportPlan) throws {
    var taken = self
    try forEachRow(of: question.report.rawValue, from: ledger, plan: plan) { row in
      if question.fits(row) { taken.add(row) }
    }
    self = taken
  }
}
