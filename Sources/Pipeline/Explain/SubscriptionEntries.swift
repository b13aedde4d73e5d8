import EventStore
import Reports
import Subscriptions
import Domain

/// Entries for a subscription, a break or a transaction: what was received, the periods that follow
/// from it, and what reports count.
final class SubscriptionEntries {
  private let ledger: Ledger
  private let rules: FoldSettings
  private let run: RunRow?
  private let records: EventRecords
  private let output: Explanation
  /// Locations of the versions that were added, by identity.
  private var added: [Int64: Set<Provenance>] = [:]

  /// - Parameter rules: as-of and calendar of what is explained.
  init(_ ledger: Ledger, rules: FoldSettings, run: RunRow?, output: Explanation) {
    self.ledger = ledger
    self.rules = rules
    self.run = run
    self.output = output
    records = EventRecords(ledger)
  }

  func explain(subscription id: String) throws {
    let rows = try ledger.lineages(original: id)
    guard !rows.isEmpty else {
      throw SubledgerError(
        .noInput, "the ledger holds no event of the subscription \(id.escaped)",
        hint: "check the id, an original transaction id; for a subscription that only a snapshot "
          + "names, use `subledger explain --break` with its break_id of breaks.csv")
    }
    var shown: Set<Int64> = []
    for row in rows where !shown.contains(row.key) {
      added = [:]
      // The row, and those of other providers that report the same purchase.
      let group = try ledger.linkedGroup(of: row)
      let linked = Set(group.map(\.key))
      let reports = rows.filter {
        linked.contains($0.key) && $0.environment == row.environment && $0.store == row.store
      }
      shown.formUnion(reports.map(\.key))
      let providers = reports.map(\.provider.name).joined(separator: ", ")
      let apps = reports.map { records.text($0.app) }.joined(separator: ", ")
      var subject: Record = [
        "subscription": .text(id), "provider": .plain(providers), "app_id": .text(apps),
        "environment": .plain(row.environment.name), "store": .plain(row.store.name),
      ]
      if let user = try ledger.userText(row.user) { subject["user_id"] = .text(user) }
      try output.begin(subject + asOfAndRun)
      try add(reports, of: group)
      try noteBreaks()
      for report in reports { try addBreaks(of: report) }
      try output.finish()
    }
  }

  func explain(breakID id: String) throws {
    guard let subject = try ledger.knownBreak(id) else {
      throw SubledgerError(
        .noInput, "the ledger holds no break \(id.escaped)",
        hint: "give an id of the column break_id of breaks.csv or breaks_history.csv")
    }
    var shown: Record = [:]
    for report in ["breaks_history", "breaks"] {
      try forEachBreak(of: report, in: ledger, ReportPlan(rules: rules, run: run?.id ?? 0)) {
        guard $0["break_id"] == id else { return }
        // The newest episode comes last, and then its columns in `breaks`.
        if report == "breaks_history" { shown = [:] }
        for (name, text) in $0.cells where !text.isEmpty { shown[name] = .plain(text) }
      }
    }
    try output.begin(shown)
    let everywhere = try ledger.lineages(original: subject.subscription).filter {
      $0.provider == subject.provider && records.text($0.app).isExactly(subject.app)
    }
    let rows = everywhere.filter { $0.environment == subject.environment }
    if rows.isEmpty { try output.note("no event of its subscription was received") }
    for row in rows { try add([row], of: ledger.linkedGroup(of: row)) }
    if subject.code == .envLeak {
      for row in everywhere where row.environment != subject.environment {
        try addVersions(of: row)
      }
    }
    try noteBreaks()
    if let row = rows.first { try addBreaks(of: row) }
    try output.finish()
  }

  /// Explains what was received of a transaction, and what reports count of it.
  func explain(transaction id: String) throws {
    let key = transactionKey(id)
    var found = 0
    try ledger.forEachGroup(linked: true) { group, events in
      let hits = events.filter { $0.transaction == key }
      guard !hits.isEmpty else { return }
      var named: Set<Int64> = []
      for row in group where hits.contains(where: { $0.lineage == row.key }) {
        for version in try ledger.versions(ofLineage: row)
        where version.event.transaction == key && version.transaction.isExactly(id) {
          named.insert(version.event.identity)
          found += 1
          try add(version, of: row)
        }
      }
      for history in try countedHistories(group, events, rules: rules) {
        try addContributions(of: history) { evidence in
          evidence.first.map { named.contains($0.reported.identity) } ?? false
        }
      }
    }
    guard found > 0 else {
      throw SubledgerError(
        .noInput, "the ledger holds no event of the transaction \(id.escaped)",
        hint: "check the id; breaks.csv lists what only snapshots contain")
    }
    try output.begin(["transaction": .text(id)] + asOfAndRun)
    try output.finish()
  }

  private var asOfAndRun: Record {
    ["as_of": CSVCell(rules.asOf)] + (run.map { ["run": .integer($0.id)] } ?? [:])
  }

  /// Adds a note when the breaks in the ledger are not those that `run` published.
  private func noteBreaks() throws {
    guard let run, run.published != nil, let other = try ledger.unpublishedRun() else { return }
    try output.note(
      "run \(other.id) has not published, and its breaks replaced those that run \(run.id) "
        + "published; the latter are not listed")
  }

  /// Adds what was received of lineages and their subscriptions, and their state at as-of; `group`
  /// are the lineages folded with them.
  private func add(_ rows: [LineageRow], of group: [LineageRow]) throws {
    let keys = Set(rows.map(\.key))
    let histories = try countedHistories(group, try ledger.events(of: group), rules: rules)
      .filter { $0.reportedEvents.contains { keys.contains($0.lineage) } }
    let lineages = keys.union(histories.flatMap { $0.reportedEvents.map(\.lineage) })
    for member in group where lineages.contains(member.key) { try addVersions(of: member) }
    // What one of several providers reported counts in their common history.
    let isOfNone = !histories.contains(where: \.isCounted)
    for history in histories where history.isCounted || isOfNone {
      if let state = history.state { try output.note(sentence(state)) }
      try addPeriods(of: history)
    }
    for history in histories { try addContributions(of: history) }
    for row in rows { try addSnapshots(of: row) }
  }

  private func sentence(_ state: LineageState) -> String {
    let product = records.text(state.product)
    var parts = ["charges \(state.charges.count), refunds \(state.refunds.count)"]
    if let end = state.effectiveEnd {
      let isOver = end <= rules.asOf
      parts.append(
        "\(state.isTrial ? "trial" : "access") \(isOver ? "ended" : "until") \(end.text)")
    }
    if state.isAutoRenewOff { parts.append("auto-renew is off") }
    if state.isInBillingRetry { parts.append("a payment had failed") }
    if state.accessRevoked { parts.append("access was revoked") }
    if let end = state.churned.last { parts.append("churned \(end.at.text)") }
    return "\(product.isEmpty ? "no product" : product.escaped): \(parts.joined(separator: "; "))"
  }

  /// Adds everything that was received of a lineage, including superseded versions.
  private func addVersions(of row: LineageRow) throws {
    for version in try ledger.versions(ofLineage: row) { try add(version, of: row) }
  }

  private func add(_ version: EventVersion, of row: LineageRow) throws {
    try addAlone(version, of: row)
    for rival in try ledger.rivals(of: version) {
      if let other = try ledger.lineage(rival.event.lineage) { try addAlone(rival, of: other) }
    }
  }

  private func addAlone(_ version: EventVersion, of row: LineageRow) throws {
    let event = version.event
    guard added[event.identity, default: []].insert(event.place).inserted else { return }
    let source = SourceEvent(event: event, reported: event)
    var record = try records.record(of: source, in: row, transaction: version.transaction)
    // Versions may disagree about the user.
    if !version.counts, event.user == 0 { record["user_id"] = .text("") }
    let step =
      version.counts
      ? event.time >= rules.asOf ? "received, after as-of" : "received" : "received, superseded"
    try output.add(Entry(at: event.time, step: step, events: [record]))
  }

  private func addPeriods(of history: SubscriptionHistory) throws {
    for period in history.periods {
      var step = period.isTrial ? "trial" : "paid period"
      step += " of \(records.text(period.product).escaped)"
      step += period.end.map { " until \($0.text)" } ?? ", its end is unknown"
      if period.isEndDerived { step += " (from the period of its product)" }
      if let grace = period.graceEnd { step += ", grace until \(grace.text)" }
      if let revoked = period.revokedAt { step += ", revoked \(revoked.text)" }
      try output.add(Entry(at: period.start, step: step))
    }
  }

  /// Adds what reports count; `isWanted` checks the events of each contribution.
  private func addContributions(
    of history: SubscriptionHistory, where isWanted: ([SourceEvent]) -> Bool = { _ in true }
  ) throws {
    var entries: [Entry] = []
    for found in try history.shares() where isWanted(history.evidence(of: found)) {
      let contributions = Self.reports.flatMap { Self.contributions(of: found.cell, to: $0) }
      guard !contributions.isEmpty else { continue }
      let step = found.cell.step
      if let known = entries.firstIndex(where: { $0.at == found.at && $0.step == step }) {
        entries[known].contributions += contributions
      } else {
        entries.append(Entry(at: found.at, step: step, contributions: contributions))
      }
    }
    for entry in entries { try output.add(entry) }
  }

  /// Returns the contributions of a cell to the independent measures of a report.
  private static func contributions(
    of cell: Contribution.Cell, to report: NumberReport
  ) -> [(column: String, text: String)] {
    report.columns(of: cell).compactMap { part in
      let column = reportColumns(report.rawValue)?.first { $0.name == part.column }
      guard let column, column.addition == .sum, !part.isUnknown,
        report.formula(of: part.column) == nil
      else { return nil }
      let text = numberText(Int128(part.value), isAmount: column.isAmount)
      return ("\(report.rawValue) \(part.column)", text)
    }
  }

  /// Adds a user's newest snapshots, and the newest webhook with entitlements beyond its event.
  private func addSnapshots(of row: LineageRow) throws {
    guard row.user != 0 else { return }
    let user = try ledger.userText(row.user) ?? ""
    func add(_ step: String, _ kind: String, at time: Instant, _ place: Provenance) throws {
      let record: Record = [
        "kind": .plain(kind), "provider": .plain(row.provider.name), "user_id": .text(user),
        "event_at": CSVCell(time),
      ]
      try output.add(
        Entry(at: time, step: step, events: [record + (try records.location(place))]))
    }
    let found = try ledger.snapshotPlaces(
      ofUser: row.user, provider: row.provider, asOf: rules.asOf, newest: 8)
    for snapshot in found {
      try add("snapshot", "snapshot", at: snapshot.capturedAt, snapshot.place)
    }
    let rows = try ledger.lineages(ofUser: row.user, provider: row.provider)
    if let webhook = try ledger.webhookSnapshot(of: rows, asOf: rules.asOf) {
      try add(
        "entitlements in the webhook of \(webhook.capturedAt.text)", "webhook",
        at: webhook.capturedAt, webhook.place)
    }
  }

  private func addBreaks(of row: LineageRow) throws {
    // Apps and environments can have subscriptions with the same id.
    let subscription = [
      "provider": row.provider.name, "app_id": cellText(records.text(row.app)),
      "environment": row.environment.name,
      "subscription_id": cellText(try ledger.originalText(of: row)),
    ]
    let plan = ReportPlan(rules: rules, run: run?.id ?? 0)
    try forEachBreak(of: "breaks", in: ledger, plan) { found in
      guard subscription.allSatisfy({ found[$0.key] == $0.value }) else { return }
      let step = "\(found["code"]), \(found["status"])"
      try output.add(Entry(at: found.expectedAt, step: step, breakID: found["break_id"]))
    }
  }

  private static let reports: [NumberReport] = [
    .revenueMonthly, .churnMonthly, .mrrMonthly, .renewalsMonthly, .trialsMonthly,
    .excludedMonthly, .deliveriesDaily,
  ]
}
