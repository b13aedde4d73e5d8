import Foundation
import EventStore
import Reconciliation
import Reports
import Domain

extension RunPipeline {
  /// Says which events, in which archive and line, make up what `order` asks for.
  ///
  /// The ledger is only read, in one state, also while a run writes. Settings and as-of are the
  /// newest published run's, unless the plan sets an as-of.
  ///
  /// - Parameters:
  ///   - order: what to explain.
  ///   - write: takes the explanation, piece by piece.
  public func explain(
    _ order: ExplainOrder, write: @escaping ([UInt8]) throws -> Void
  ) throws(SubledgerError) {
    try requireLedger(to: "explain from")
    try attempt {
      let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
      try ledger.atOneMoment {
        let run = try ledger.lastPublished() ?? ledger.runs(newest: 1).first
        var told =
          if let run, run.published != nil {
            try plan.following(run, try ledger.documents(ofRun: run.id))
          } else {
            try plan.withLists()
          }
        if plan.saysAsOf { told.rules.asOf = plan.rules.asOf }
        try requireKept(told.rules.asOf, in: ledger)
        let writer = ExplanationWriter(format: order.format, write: write)
        try following(told).explain(order.subject, in: ledger, run, writer)
      }
    }
  }

  private func explain(
    _ subject: ExplainOrder.BreakSubject, in ledger: Ledger, _ run: RunRow?,
    _ writer: ExplanationWriter
  ) throws {
    switch subject {
    case .number(let report, let keys, let column):
      let question = try NumberQuestion(report: report, keys: keys, column: column)
      try explain(question, in: ledger, run, writer)
    case .breakID(let id): try explainBreak(id, in: ledger, run, writer)
    case .subscription(let id): try explainSubscription(id, in: ledger, run, writer)
    case .transaction(let id): try explainTransaction(id, in: ledger, run, writer)
    }
  }

  private func explain(
    _ question: NumberQuestion, in ledger: Ledger, _ run: RunRow?, _ writer: ExplanationWriter
  ) throws {
    if question.report == .qualityMonthly, let run, run.published != nil {
      try requireStanding(run, in: ledger, to: "explain \(question.report.rawValue)")
    }
    try question.check(in: ledger, asOf: plan.rules.asOf, run)
    let rules = try reconcileRules(for: ledger)
    try requireNear(rules.fold)
    let answer = try NumberAnswer(
      question, in: ledger, rules: rules, run: run, doubts: try doubts(question, in: ledger, rules),
      checkStop: checkStop)
    try writer.head(question.head(answer.totals, asOf: plan.rules.asOf, run))
    guard answer.totals.rows > 0 else {
      return try writer.note(
        "no row of \(question.report.rawValue) has these keys: nothing is counted or booked there")
    }
    for column in answer.columns { try writer.number(column) }
    try answer.forEachEntry(writer.entry)
  }

  /// Ends that a missing event can contradict, where they are asked for: only reconciliation finds
  /// them.
  private func doubts(
    _ question: NumberQuestion, in ledger: Ledger, _ rules: ReconciliationSettings
  ) throws -> Set<ChurnInDoubt> {
    guard question.listed.contains("churned_in_doubt") else { return [] }
    let (fold, outcome) = try wholeOutcome(of: ledger, by: rules)
    return fold.result.churnInDoubt.union(outcome.churnInDoubt)
  }
}

extension NumberQuestion {
  /// The subject of the explanation.
  func head(_ totals: RowTotals, asOf: Instant, _ run: RunRow?) -> [(name: String, value: String)] {
    var facts = [("report", report.rawValue)]
    if totals.rows == 1 {
      for (column, value) in zip(columns, totals.row) where column.isKey {
        facts.append((column.name, value.text))
      }
    } else {
      for key in keys { facts.append((key.column.rawValue, key.text)) }
      if let time { facts.append((time.key.column.rawValue, time.key.text)) }
      facts.append(("rows", totals.rows == 0 ? "none" : "\(totals.rows), summed"))
    }
    facts.append(("as_of", asOf.text))
    if let run { facts.append(("run", "\(run.id)")) }
    return facts
  }

  /// Checks names that only events bring, and requests that only the newest run can answer.
  ///
  /// - Throws: `SubledgerError` of kind `usage` that lists the known names.
  func check(in ledger: Ledger, asOf: Instant, _ run: RunRow?) throws {
    if report == .coverage, key(.provider) == nil || key(.app) == nil || key(.metric) == nil {
      throw SubledgerError(
        .usage, "coverage is explained one metric of one app at a time",
        hint: "give provider=, app_id= and metric=, which may be empty only for app_id")
    }
    if report == .qualityMonthly, run.map({ $0.asOf != asOf }) ?? true {
      throw SubledgerError(
        .usage,
        "quality_monthly speaks of the breaks of the newest run, and there is none of "
          + asOf.text,
        hint: "leave --as-of out, or run `subledger report` with it first")
    }
    for key in keys where key.column.isWord || key.column == .metric {
      if key.column.isWord, knows(key.text, ledger) { continue }
      let known = try values(of: key, in: ledger, asOf, run)
      guard !known.contains(where: key.fits(printed:)) else { continue }
      throw SubledgerError(
        .usage, "\(report.rawValue) has no \(key.column.rawValue) \(key.text.escaped)",
        hint: "there are \(known.prefix(20).joined(separator: ", "))"
          + (known.count > 20 ? " and \(known.count - 20) more" : ""))
    }
  }

  private func knows(_ text: String, _ ledger: Ledger) -> Bool {
    text.isEmpty || ledger.symbol(text) != nil
  }

  private func values(
    of key: Key, in ledger: Ledger, _ asOf: Instant, _ run: RunRow?
  ) throws -> [String] {
    var known: Set<String> = []
    let plan = ReportPlan(rules: FoldSettings(asOf: asOf), run: run?.id ?? 0)
    try forEachRow(of: report.rawValue, from: ledger, plan: plan) { row in
      if known.count < 10_000 { known.insert(row[key.place].text) }
    }
    return known.sorted()
  }
}
