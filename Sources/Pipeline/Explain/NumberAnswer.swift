import EventStore
import Reconciliation
import Reports
import Domain

/// One number of the requested rows, and its parts.
struct ColumnAnswer {
  let column: String
  /// The value as the report prints it; empty when unknown.
  var value = ""
  /// How it follows from other columns; empty for values that are counted or booked themselves.
  var arithmetic = ""
  var sum = ColumnSum()
  var known = ""
  /// The value that the newest run published, when it differs.
  var published: String?
  var note = ""

  var record: Record {
    var record: Record = [
      "column": .plain(column), "value": .plain(value), "entries": .integer(sum.entries),
      "unknown": .integer(sum.unknown), "known": .plain(known),
    ]
    for (name, text) in [("arithmetic", arithmetic), ("note", note)] where !text.isEmpty {
      record[name] = .plain(text)
    }
    if let published { record["published"] = .plain(published) }
    return record
  }

  var lines: [String] {
    let sides = [value, arithmetic].filter { !$0.isEmpty }
    var lines = [sides.isEmpty ? "unknown" : sides.joined(separator: " = ")]
    if sum.entries > 0 {
      let entries = sum.entries == 1 ? "1 entry" : "\(sum.entries) entries"
      let unknown = sum.unknown > 0 ? ", \(sum.unknown) of them without a known amount" : ""
      lines.append("\(entries) below\(unknown)" + (value.isEmpty ? "; together \(known)" : ""))
    }
    if let published {
      let shown = published.isEmpty ? "it as unknown" : published
      lines.append("the newest run published \(shown); input received since changes it")
    }
    if !note.isEmpty { lines.append(note) }
    return lines.enumerated().map { padded($0 == 0 ? column : "", to: 23) + " \($1)" }
  }
}

/// The answer to a question about numbers: the sums of the listed entries, and the requested rows.
struct NumberAnswer {
  let question: NumberQuestion
  let sums: [String: ColumnSum]
  let totals: RowTotals

  /// Returns a requested number, with what the newest run published, if that is given.
  ///
  /// - Throws: `SubledgerError` of kind `identity` when events do not add up to the cell.
  func column(_ index: Int, _ published: RowTotals?) throws -> ColumnAnswer {
    let column = question.columns[index]
    var answer = ColumnAnswer(column: column.name)
    if let refusal = question.refusal(of: column, rows: totals.rows) {
      guard question.asked.count > 1 else {
        throw SubledgerError(.usage, "cannot explain: \(refusal.reason)", hint: refusal.keys)
      }
      answer.note = "\(refusal.reason): \(refusal.keys)"
      return answer
    }
    answer.value = totals.text(index)
    answer.arithmetic = arithmetic(of: column.name)
    answer.note = note(on: column)
    answer.sum = sums[column.name] ?? ColumnSum()
    let known = answer.sum.sums
    answer.known = sumText(known.isEmpty ? ["": 0] : known, isAmount: column.isAmount)
    if question.hasEvents(column.name) { try check(column, index, known) }
    if let published {
      let before = published.rows == 0 ? "no row" : published.text(index)
      if before != answer.value { answer.published = before }
    }
    return answer
  }

  private func note(on column: ReportColumn) -> String {
    if !question.hasEvents(column.name) { return "the ledger stores only counts of it, no events" }
    guard totals.rows > 1, question.time == nil else { return "" }
    return switch column.addition {
    case .opening: "of the first month: balances do not add up over months"
    case .closing: "of the last month: balances do not add up over months"
    default: ""
    }
  }

  /// Throws when the listed entries do not add up to the printed number.
  private func check(_ column: ReportColumn, _ index: Int, _ sums: [String: Int128]) throws {
    for currency in Set(sums.keys).union(totals.currencies(index)) {
      let sum = sums[currency] ?? 0
      guard let printed = totals.sum(index, currency), printed != sum else { continue }
      throw SubledgerError(
        .identity,
        "cannot explain \(column.name) of \(question.report.rawValue): its events add up to "
          + "\(numberText(sum, isAmount: column.isAmount)), the report shows "
          + "\(numberText(printed, isAmount: column.isAmount))",
        hint: identityHint)
    }
  }

  private func arithmetic(of column: String) -> String {
    switch question.report.formula(of: column) {
    case .sum(let parts): sum(parts)
    case .ratio(let part, let whole): "(\(sum(part))) / (\(sum(whole.map { (1, $0) })))"
    case nil: ""
    }
  }

  /// Returns the parts with their values; parts after the first only if they are not 0.
  private func sum(_ parts: [(factor: Int64, column: String)]) -> String {
    var text = ""
    for (place, part) in parts.enumerated() {
      guard let index = question.columns.firstIndex(where: { $0.name == part.column }),
        place == 0 || !totals.isZero(index)
      else { continue }
      let value = totals.text(index)
      if place > 0 { text += part.factor < 0 ? " − " : " + " }
      if part.factor.magnitude > 1 { text += "\(part.factor.magnitude) × " }
      text += "\(part.column) \(value.isEmpty ? "(unknown)" : value)"
    }
    return text
  }
}
