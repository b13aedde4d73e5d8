import EventStore
import Reconciliation
import Reports
import Domain

extension RunPipeline {
  /// Lists the events, with archive and line, that make up `subject`.
  ///
  /// The ledger is only read, in one state, also during a run. Settings and as-of are those of the
  /// newest published run, unless the plan has an as-of.
  public func explain(
    _ subject: ExplainSubject, as format: AnswerFormat,
    write: @escaping ([UInt8]) throws -> Void
  ) throws {
    try holdingEvents { pipeline in
      try pipeline.reading(to: "explain from") { ledger, run, pipeline in
        let output = try Explanation(ledger, format: format, write: write)
        try pipeline.explain(subject, in: ledger, run, output)
      }
    }
  }

  /// Reads the ledger in one state, also during a run: `body` receives the newest published run,
  /// and a pipeline with its settings and as-of, unless the plan has an as-of.
  func reading(
    to action: String, _ body: (Ledger, RunRow?, RunPipeline) throws -> Void
  ) throws {
    try requireLedger(to: action)
    let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
    ledger.stop = stop
    try ledger.atOneMoment {
      try ledger.requireSealed()
      let run = try ledger.lastPublished() ?? ledger.runs(newest: 1).first
      var followed =
        if let run, run.published != nil {
          try plan.following(run, try ledger.documents(ofRun: run.id))
        } else {
          try plan.withLists()
        }
      if plan.hasExplicitAsOf { followed.rules.asOf = plan.rules.asOf }
      try requireKept(followed.rules.asOf, in: ledger)
      try body(ledger, run, following(followed))
    }
  }

  private func explain(
    _ subject: ExplainSubject, in ledger: Ledger, _ run: RunRow?, _ output: Explanation
  ) throws {
    func entries() throws -> SubscriptionEntries {
      SubscriptionEntries(
        ledger, rules: try reconcileRules(for: ledger).fold, run: run, output: output)
    }
    switch subject {
    case .number(let report, let keys, let column):
      let question = try NumberQuestion(report: report, keys: keys, column: column)
      try explain(question, in: ledger, run, output)
    case .breakID(let id): try entries().explain(breakID: id)
    case .subscription(let id): try entries().explain(subscription: id)
    case .transaction(let id): try entries().explain(transaction: id)
    }
  }

  private func explain(
    _ question: NumberQuestion, in ledger: Ledger, _ run: RunRow?, _ output: Explanation
  ) throws {
    if question.report == .qualityMonthly, let run, run.published != nil {
      try requireStanding(run, in: ledger, to: "explain \(question.report.rawValue)")
    }
    try question.check(in: ledger, asOf: plan.rules.asOf, run)
    let rules = try reconcileRules(for: ledger)
    try requireNear(rules.fold)
    // Ends that a missing event may contradict are found only by reconciliation.
    var doubts: Set<ChurnInDoubt> = []
    if question.listed.contains("churned_in_doubt") {
      doubts = try wholeOutcome(of: ledger, by: rules).reconciled.churnInDoubt
    }
    let reportPlan = ReportPlan(rules: rules.fold, run: run?.id ?? 0)
    let isPublished = run.map { $0.asOf == rules.fold.asOf && $0.published != nil } ?? false
    let published = isPublished ? try RowTotals(question, from: ledger, reportPlan) : nil
    var pass = NumberPass(question, in: ledger, rules: rules, doubts: doubts, output: output)
    try pass.run()
    if question.report == .qualityMonthly { try pass.explainBreaks(reportPlan) }
    // The report's own query reads the facts of this fold.
    try ledger.layOver(pass.facts)
    let totals = try RowTotals(question, from: ledger, reportPlan)
    let answer = NumberAnswer(question: question, sums: pass.sums, totals: totals)
    let columns = try totals.rows > 0 ? question.asked.map { try answer.column($0, published) } : []
    try output.begin(question.subject(totals, asOf: rules.fold.asOf, run))
    for note in try question.retractions(in: ledger, rules.fold) { try output.note(note) }
    guard totals.rows > 0 else {
      return try output.note(
        question.isAfter(rules.fold)
          ? "as-of is \(rules.fold.asOf.text), before this time begins: nothing is known of it yet"
          : "no row of \(question.report.rawValue) has these keys: nothing is counted or booked "
            + "there")
    }
    for column in columns { try output.part("number", column.record, text: column.lines) }
    try output.finish()
  }
}

extension NumberQuestion {
  func subject(_ totals: RowTotals, asOf: Instant, _ run: RunRow?) -> Record {
    var subject: Record = ["report": .plain(report.rawValue)]
    if totals.rows == 1 {
      for (column, text) in zip(columns, totals.row) where column.isKey {
        subject[column.name] = .plain(text)
      }
    } else {
      for key in keys { subject[key.column] = .text(key.text) }
      if let time { subject[time.key.column] = .text(time.key.text) }
      subject["rows"] = .plain(totals.rows == 0 ? "none" : "\(totals.rows), summed")
    }
    subject["as_of"] = CSVCell(asOf)
    if let run { subject["run"] = .integer(run.id) }
    return subject
  }

  /// Returns the retracted lines with events of these rows, and the reasons.
  func retractions(in ledger: Ledger, _ rules: FoldSettings) throws -> [String] {
    let acts = try ledger.retractions(since: 0).filter { act in
      act.action == .retract
        && act.retractedMonths(in: rules.calendar.identifier).first.contains {
          isAbout($0.key, since: $0.value, in: ledger)
        }
    }
    guard !acts.isEmpty else { return [] }
    let retracted = try ledger.retractedLines()
    let names = Dictionary(uniqueKeysWithValues: try ledger.archives().map { ($0.id, $0.name) })
    return acts.flatMap { act in
      act.retractions.filter { lines in
        let now = retracted[lines.archive] ?? RetractedLines()
        return now.isWhole || (lines.line.map(now.lines.contains) ?? false)
      }.map { lines in
        let line = lines.line.map { " line \($0)" } ?? ""
        return "\(names[lines.archive] ?? "")\(line) is retracted: \(act.reason)"
      }
    }
  }

  private func isAbout(
    _ subject: RetractedMonths.Subject, since first: Month, in ledger: Ledger
  ) -> Bool {
    func text(_ symbol: StringID) -> String { ledger.symbols.words[Int(symbol)] }
    if let time, report != .retentionMonthly {
      let month = report.isDaily ? Day(number: time.number).month : Month(number: time.number)
      let isBooking = report == .revenueMonthly || report == .revenueDaily
      guard isBooking ? month == subject.month : first <= month else { return false }
    }
    return keys.allSatisfy { key in
      switch key.column {
      case "provider": key.fits(subject.feed.provider.name)
      case "app_id": key.fits(text(subject.feed.app))
      case "product_id": key.fits(text(subject.product))
      default: true
      }
    }
  }

  /// Whether the requested month or day begins at as-of or later.
  func isAfter(_ rules: FoldSettings) -> Bool {
    guard let time, report != .retentionMonthly else { return false }
    let day = report.isDaily ? Day(number: time.number) : Month(number: time.number).firstDay
    return rules.calendar.start(of: day) >= rules.asOf
  }

  /// Checks values that exist only in events, and values that only the newest run has.
  ///
  /// - Throws: `SubledgerError` of kind `usage` that lists the existing values.
  func check(in ledger: Ledger, asOf: Instant, _ run: RunRow?) throws {
    if report == .qualityMonthly, run.map({ $0.asOf != asOf }) ?? true {
      throw SubledgerError(
        .usage,
        "quality_monthly counts the breaks of the newest run, and there is none as of "
          + asOf.text,
        hint: "leave --as-of out, or look into the breaks.csv of a `subledger report` with it")
    }
    for key in keys
    where columnWords(key.column)?.isEmpty == true && !key.text.isEmpty
      && ledger.symbol(key.text) == nil
    {
      var known: Set<String> = []
      let plan = ReportPlan(rules: FoldSettings(asOf: asOf), run: run?.id ?? 0)
      try forEachRow(of: report.rawValue, from: ledger, plan: plan) { row in
        if known.count < 10_000 { known.insert(row[key.place]) }
      }
      guard !known.contains(where: key.fits(printed:)) else { continue }
      throw SubledgerError(
        .usage, "\(report.rawValue) has no \(key.column) \(key.text.escaped)",
        hint: "there are \(known.sorted().prefix(20).joined(separator: ", "))"
          + (known.count > 20 ? " and \(known.count - 20) more" : ""))
    }
  }
}
