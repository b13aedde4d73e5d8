import EventStore
import Reconciliation
import Reports
import Subscriptions
import Domain

extension RunPipeline {
  /// Explains the subscription with this original transaction id.
  func explainSubscription(
    _ id: String, in ledger: Ledger, _ run: RunRow?, _ writer: ExplanationWriter
  ) throws {
    let rows = try ledger.lineages(original: id)
    guard !rows.isEmpty else {
      throw SubledgerError(
        .noInput, "the ledger holds no subscription \(id.escaped)",
        hint: "give an original transaction id, as in the column subscription_id of breaks.csv")
    }
    for (index, row) in rows.enumerated() {
      try writer.head(head(id, row, run), isFirst: index == 0)
      let entries = try lifeEntries(in: ledger)
      try tell(row, in: ledger, entries, writer)
      try noteBreaks(of: run, in: ledger, writer)
      try entries.addBreaks(of: row, run)
      try entries.store.forEach(writer.entry)
    }
  }

  /// Explains a break with all events of its subscription.
  func explainBreak(
    _ id: String, in ledger: Ledger, _ run: RunRow?, _ writer: ExplanationWriter
  ) throws {
    guard let subject = try ledger.knownBreak(id) else {
      throw SubledgerError(
        .noInput, "the ledger knows no break \(id.escaped)",
        hint: "give an id of the column break_id of breaks.csv or breaks_history.csv")
    }
    let rules = try reconcileRules(for: ledger).fold
    let plan = ReportPlan(rules: rules, run: run?.id ?? 0)
    var told: [(name: String, value: String)] = []
    for report in ["breaks_history", "breaks"] {
      let columns = reportColumns(report) ?? []
      try forEachRow(of: report, from: ledger, plan: plan) { row in
        guard row.first?.text == id else { return }
        for (column, value) in zip(columns, row) where value != .nothing && !value.text.isEmpty {
          let known = told.firstIndex { $0.name == column.name }
          if let known {
            told[known].value = value.text
          } else {
            told.append((column.name, value.text))
          }
        }
      }
    }
    try writer.head(told)
    let everywhere = try ledger.lineages(original: subject.subscription).filter {
      $0.provider == subject.provider
        && ledger.symbols.words[Int($0.app)].isExactly(subject.app)
    }
    let rows = everywhere.filter { $0.environment == subject.environment }
    let entries = try lifeEntries(in: ledger)
    if rows.isEmpty { try writer.note("no event of its subscription ever came") }
    for row in rows { try tell(row, in: ledger, entries, writer) }
    if subject.code == .envLeak {
      for row in everywhere where row.environment != subject.environment {
        try entries.addTold(row)
      }
    }
    try noteBreaks(of: run, in: ledger, writer)
    if let row = rows.first { try entries.addBreaks(of: row, run) }
    try entries.store.forEach(writer.entry)
  }

  /// Notes if the stored breaks are not the ones that `run` published.
  private func noteBreaks(
    of run: RunRow?, in ledger: Ledger, _ writer: ExplanationWriter
  ) throws {
    guard let run, run.published != nil, let other = try ledger.unpublishedRun() else { return }
    try writer.note(
      "run \(other.id) has not published, and its breaks stand in the place of those that "
        + "run \(run.id) published, which are not told here")
  }

  /// Explains a transaction: its events and contributions.
  func explainTransaction(
    _ id: String, in ledger: Ledger, _ run: RunRow?, _ writer: ExplanationWriter
  ) throws {
    let entries = try lifeEntries(in: ledger)
    let key = transactionKey(id)
    var groups = 0
    var found = 0
    try ledger.forEachGroup { group, events in
      groups += 1
      if groups % 512 == 0 { try checkStop() }
      let hits = events.filter { $0.transaction == key }
      guard !hits.isEmpty else { return }
      var named: Set<Int64> = []
      for row in group where hits.contains(where: { $0.lineage == row.key }) {
        for version in try ledger.versions(ofLineage: row)
        where version.event.transaction == key && version.transaction.isExactly(id) {
          named.insert(version.event.identity)
          found += 1
          try entries.add(version, of: row)
        }
      }
      for life in try lives(of: events, rules: entries.rules) {
        try entries.addShares(life) { evidence in
          evidence.first.map { named.contains($0.told.identity) } ?? false
        }
      }
    }
    guard found > 0 else {
      throw SubledgerError(
        .noInput, "the ledger holds no event of the transaction \(id.escaped)",
        hint: "check the id; what a snapshot alone knows of is in breaks.csv")
    }
    var facts = [("transaction", id.escaped), ("as_of", plan.rules.asOf.text)]
    if let run { facts.append(("run", "\(run.id)")) }
    try writer.head(facts)
    try entries.store.forEach(writer.entry)
  }

  private func lifeEntries(in ledger: Ledger) throws -> LifeEntries {
    try LifeEntries(ledger, rules: try reconcileRules(for: ledger).fold)
  }

  /// Adds the events, periods and contributions of a lineage's subscriptions, and notes their
  /// state.
  private func tell(
    _ row: LineageRow, in ledger: Ledger, _ entries: LifeEntries, _ writer: ExplanationWriter
  ) throws {
    let group = try ledger.group(of: row)
    let lives = try lives(of: try ledger.events(of: group), rules: entries.rules)
      .filter { $0.toldEvents.contains { $0.lineage == row.key } }
    let told = Set(lives.flatMap { $0.toldEvents.map(\.lineage) }).union([row.key])
    for member in group where told.contains(member.key) { try entries.addTold(member) }
    for life in lives {
      if let state = life.state { try writer.note(sentence(state, ledger)) }
      try entries.addPeriods(life)
      try entries.addShares(life)
    }
    try entries.addSnapshots(of: row)
  }

  private func head(
    _ id: String, _ row: LineageRow, _ run: RunRow?
  ) -> [(name: String, value: String)] {
    var facts = [
      ("subscription", id.escaped), ("provider", row.provider.name),
      ("environment", row.environment.name), ("store", row.store.name),
      ("user_id", row.userText.escaped), ("as_of", plan.rules.asOf.text),
    ]
    if let run { facts.append(("run", "\(run.id)")) }
    return facts.filter { !$0.1.isEmpty }
  }

  /// The state of a subscription at as-of, as text.
  private func sentence(_ state: LineageState, _ ledger: Ledger) -> String {
    let product = ledger.symbols.words[Int(state.product)]
    var parts = ["charges \(state.charges.count), refunds \(state.refunds.count)"]
    if let end = state.effectiveEnd {
      let isOver = end <= plan.rules.asOf
      parts.append(
        "\(state.isTrial ? "trial" : "access") \(isOver ? "ended" : "until") \(end.text)")
    }
    if state.isAutoRenewOff { parts.append("auto-renew is off") }
    if state.isInBillingRetry { parts.append("a payment had failed") }
    if state.accessTakenAway { parts.append("access was taken away") }
    if let end = state.churned.last { parts.append("churned \(end.at.text)") }
    return "\(product.isEmpty ? "no product" : product.escaped): \(parts.joined(separator: "; "))"
  }
}
