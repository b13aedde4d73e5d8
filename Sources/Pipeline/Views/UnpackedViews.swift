import Domain
import EventStore
import Reports
import Subscriptions

/// The views whose rows the ledger stores packed, as temporary tables of a reader.
///
/// An additional fold creates them, by the rules of the reports: the list of charges is not stored.
final class UnpackedViews {
  private let ledger: Ledger
  private let rules: FoldSettings
  private let records: EventRecords
  /// The statement that adds a row to the current table.
  private var insertion = ""

  /// Creates the tables without rows, which is enough to prepare a query.
  init(in ledger: Ledger, rules: FoldSettings) throws {
    self.ledger = ledger
    self.rules = rules
    records = EventRecords(ledger)
    for view in ViewDefinition.all where view.isPacked {
      let columns = view.columns.map {
        "\($0.name) \($0.type == "integer" ? "integer" : "text")"
      }
      try ledger.rows(
        sql: "create temp table \(view.name) (\(columns.joined(separator: ", "))) strict"
      ) { _ in }
    }
  }

  /// Fills the tables among `names`.
  func fill(_ names: Set<String>) throws {
    let views = ViewDefinition.all.filter { $0.isPacked && names.contains($0.name) }
    for view in views {
      let marks = view.columns.map { _ in "?" }.joined(separator: ", ")
      insertion = "insert into temp.\(view.name) values (\(marks))"
      switch view.name {
      case "v_charge": try addCharges(to: view)
      case "v_event": try addEvents(to: view)
      case "v_period": try addPeriods(to: view)
      default: try addSnapshots(to: view)
      }
    }
  }

  private func addCharges(to view: ViewDefinition) throws {
    let writer = try ChargeRowWriter(of: ledger, rules: rules, dialect: .rfc4180, decimals: nil)
    // Neither the day nor millionths are printed.
    let columns = view.columns.dropFirst().filter { !$0.name.hasSuffix("_micros") }
    var row = CSVRow(columns)
    func take(_ part: ChargePart) throws {
      try part.forEachRow { day, bytes in
        let isRow = bytes.withUnsafeBytes { row.read($0) }
        precondition(isRow, "a row is printed with a cell for each column")
        try add([day.text] + columns.indices.map { row[$0] }, isPrinted: true, to: view)
      }
    }
    var charges = ChargeFold(writer, ledger, take: take)
    var rest = charges.emptyPart
    try ledger.forEachGroup(linked: true) { group, events in
      var own = ChargeFold.Group(rows: group, events: events)
      for history in try countedHistories(group, events, rules: rules) {
        try charges.write(history, of: &own, to: &rest)
      }
    }
    rest.sort()
    try take(rest)
  }

  private func addEvents(to view: ViewDefinition) throws {
    try ledger.forEachGroup(linked: true) { group, events in
      let evidence = events.map { (event: $0, reported: $0) }
      for (event, record) in zip(events, try records.records(of: evidence, group)) {
        let sent = event.revenue
        let money: Record = [
          "country": .text(records.text(event.country)),
          "currency": .text(records.text(sent?.currency ?? 0)),
          "sent_local": .plain(sent?.local?.text() ?? ""),
          "sent_usd": .plain(sent?.usd?.text() ?? ""),
          "is_proceed": .plain(sent?.isProceed.map(String.init) ?? ""),
        ]
        try add(record + money, to: view)
      }
    }
  }

  private func addPeriods(to view: ViewDefinition) throws {
    try ledger.forEachGroup(linked: true) { group, events in
      for history in try countedHistories(group, events, rules: rules) where history.isCounted {
        for (index, period) in history.periods.enumerated() {
          let lineage = history.lineage(ofPeriod: index)
          guard let row = group.first(where: { $0.key == lineage }) else { continue }
          let key = history.productKey(ofPeriod: index)
          let record: Record = [
            "kind": .plain(period.isTrial ? "trial" : "paid"), "starts_at": CSVCell(period.start),
            "provider": .plain(key.provider.name), "app_id": .text(records.text(key.app)),
            "environment": .plain(row.environment.name), "store": .plain(key.store.name),
            "user_id": .text(try ledger.userText(row.user) ?? ""),
            "subscription_id": .text(try ledger.originalText(of: row)),
            "product_id": .text(records.text(key.product)), "ends_at": CSVCell(period.end),
            "is_end_derived": .plain("\(period.isEndDerived)"),
            "grace_until": CSVCell(period.graceEnd), "revoked_at": CSVCell(period.revokedAt),
          ]
          try add(record, to: view)
        }
      }
    }
  }

  private func addSnapshots(to view: ViewDefinition) throws {
    try ledger.forEachUser(withSnapshotAsOf: rules.asOf) { user in
      let id = try ledger.userText(user.user) ?? ""
      for snapshot in user.snapshots {
        let whole: Record = [
          "captured_at": CSVCell(snapshot.capturedAt), "provider": .plain(snapshot.provider.name),
          "app_id": .text(snapshot.app), "user_id": .text(id),
        ]
        let held = snapshot.entitlements.map { entitlement -> Record in
          [
            "entitlement_id": .text(entitlement.id), "product_id": .text(entitlement.product),
            "store": .plain(entitlement.store.name),
            "is_active": .plain(entitlement.isActive.map(String.init) ?? ""),
            "is_trial": .plain(entitlement.isTrial.map(String.init) ?? ""),
            "started_at": CSVCell(entitlement.startedAt),
            "expires_at": CSVCell(entitlement.expiresAt),
          ]
        }
        let place = try records.location(snapshot.place)
        for record in held.isEmpty ? [[:]] : held {
          try add(whole + record + place, to: view)
        }
      }
    }
  }

  private func add(_ record: Record, to view: ViewDefinition) throws {
    try add(
      view.columns.filter { !$0.name.hasSuffix("_micros") }.map { record[$0.name].raw }, to: view)
  }

  /// Adds a row with the texts of all columns except those in millionths.
  private func add(
    _ cells: [String], isPrinted: Bool = false, to view: ViewDefinition
  ) throws {
    var rest = cells[...]
    var cell = ""
    let row = view.columns.map { (column) -> LedgerValue in
      if column.name.hasSuffix("_micros") {
        return CSVRow.micros(of: cell.utf8).map(LedgerValue.integer) ?? .null
      }
      cell = rest.popFirst() ?? ""
      switch column.type {
      case "string":
        return .text(isPrinted ? receivedText(cell, isName: column.name == "archive") : cell)
      case "integer": return Int64(cell).map(LedgerValue.integer) ?? .null
      default: return cell.isEmpty ? .null : .text(cell)
      }
    }
    try ledger.rows(sql: insertion, arguments: row) { _ in }
  }
}
