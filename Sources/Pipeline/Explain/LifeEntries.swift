import EventStore
import Reports
import Subscriptions
import Domain

/// A subscription as entries: its events, its periods, and its contributions.
final class LifeEntries {
  let ledger: Ledger
  let rules: FoldSettings
  let words: EventWords
  let store: EntryStore
  /// Where the versions stand that were added, by identity.
  private var told: [Int64: Set<Provenance>] = [:]

  /// - Parameter rules: as-of and calendar of the explanation.
  init(_ ledger: Ledger, rules: FoldSettings) throws {
    self.ledger = ledger
    self.rules = rules
    words = EventWords(ledger)
    store = try EntryStore(ledger)
  }

  /// Adds all events of a lineage, including versions that do not count.
  func addTold(_ row: LineageRow) throws {
    for version in try ledger.versions(ofLineage: row) { try add(version, of: row) }
  }

  /// Adds one version of an event, and its versions in other lineages.
  func add(_ version: EventVersion, of row: LineageRow) throws {
    try addAlone(version, of: row)
    for rival in try ledger.rivals(of: version) where rival.event.lineage != row.key {
      if let other = try ledger.lineage(rival.event.lineage) { try addAlone(rival, of: other) }
    }
  }

  /// Adds a version unless it is there.
  private func addAlone(_ version: EventVersion, of row: LineageRow) throws {
    let event = version.event
    guard told[event.identity, default: []].insert(event.place).inserted else { return }
    let isLater = event.time >= rules.asOf
    var entry = Entry(
      at: event.time,
      step: version.counts ? isLater ? "told, after as-of" : "told" : "told, superseded")
    var line = try words.line(event, of: row, transaction: version.transaction)
    // The user of the event can be what the versions disagree about.
    if !version.counts, event.user == 0 { line.user = "" }
    entry.events = [line]
    try store.add(entry)
  }

  /// Adds the periods of a subscription.
  func addPeriods(_ life: SubscriptionHistory) throws {
    for spell in life.spells {
      var step =
        "\(spell.isTrial ? "trial" : "paid period") of \(words.word(spell.product).escaped)"
      step += spell.end.map { " until \($0.text)" } ?? ", its end is not told"
      if spell.isEndDerived { step += " (by the length of its product)" }
      if let grace = spell.graceEnd { step += ", grace until \(grace.text)" }
      if let taken = spell.takenAway { step += ", taken away \(taken.text)" }
      try store.add(Entry(at: spell.start, step: step))
    }
  }

  /// Adds the contributions of a subscription whose source events are wanted.
  func addShares(
    _ life: SubscriptionHistory, where isWanted: ([SourceEvent]) -> Bool = { _ in true }
  ) throws {
    var entries: [Entry] = []
    for share in try life.shares() where isWanted(life.evidence(of: share)) {
      let shares = Self.reports.flatMap { Self.shares(share.cell, in: $0) }
      guard !shares.isEmpty else { continue }
      let step = share.cell.step
      if let known = entries.firstIndex(where: { $0.at == share.at && $0.step == step }) {
        entries[known].shares += shares
      } else {
        entries.append(Entry(at: share.at, step: step, shares: shares))
      }
    }
    for entry in entries { try store.add(entry) }
  }

  /// What a share adds to the measures of a report that are counted or booked themselves, rather
  /// than following from others.
  private static func shares(
    _ cell: Contribution.Cell, in report: NumberReport
  ) -> [(column: String, text: String)] {
    report.columns(of: cell).compactMap { share in
      guard case .during = share.span, !share.isUnknown,
        report.formula(of: share.column) == nil, !share.column.hasSuffix("_local")
      else { return nil }
      let isAmount = share.column.hasSuffix("_usd") || report == .mrrMonthly
      let text = numberText(Int128(share.value), isAmount: isAmount)
      return ("\(report.rawValue) \(share.column)", text)
    }
  }

  /// Adds the newest snapshots of a user.
  func addSnapshots(of row: LineageRow) throws {
    guard row.user != 0 else { return }
    let found = try ledger.snapshotPlaces(
      ofUser: row.user, provider: row.provider, asOf: rules.asOf, newest: 8)
    for snapshot in found {
      var line = EventLine()
      line.kind = "snapshot"
      line.provider = row.provider.name
      line.user = row.userText
      line.time = snapshot.capturedAt
      try words.place(snapshot.place, in: &line)
      try store.add(Entry(at: snapshot.capturedAt, step: "snapshot", events: [line]))
    }
  }

  /// Adds the breaks of a subscription, as `breaks.csv` shows them.
  func addBreaks(of row: LineageRow, _ run: RunRow?) throws {
    guard let columns = reportColumns("breaks") else { return }
    let places = Dictionary(
      uniqueKeysWithValues: columns.enumerated().map { ($0.element.name, $0.offset) })
    var entries: [Entry] = []
    let plan = ReportPlan(rules: rules, run: run?.id ?? 0)
    try forEachRow(of: "breaks", from: ledger, plan: plan) { values in
      let found = BreakRow(values, places)
      guard found["provider"] == row.provider.name, found.names(row.originalText) else { return }
      entries.append(
        Entry(
          at: found.expectedAt, step: "\(found["code"]), \(found["status"])",
          breakID: found["break_id"]))
    }
    for entry in entries { try store.add(entry) }
  }

  private static let reports: [NumberReport] = [
    .revenueMonthly, .churnMonthly, .mrrMonthly, .renewalsMonthly, .trialsMonthly,
    .excludedMonthly, .deliveriesDaily,
  ]
}

extension BreakRow {
  /// Whether it is about the subscription with this original transaction id.
  func names(_ original: String) -> Bool {
    self["subscription_id"] == cellText(original)
  }
}
