import Reports
import Domain

/// Writes an explanation, statement by statement, as it comes.
struct ExplanationWriter {
  let format: ExplainOrder.Format
  let write: ([UInt8]) throws -> Void

  /// The subject of the explanation or of its next part, as names and values.
  func head(_ facts: [(name: String, value: String)], isFirst: Bool = true) throws {
    switch format {
    case .csv: if isFirst { try line(csvLine(Self.columns.map(CSVCell.plain))) }
    case .text:
      if !isFirst { try line("") }
      for fact in facts {
        try line(fact.value.isEmpty ? fact.name : "\(padded(fact.name))\(fact.value)")
      }
    case .json: try json("subject", facts.map { ($0.name, .string($0.value)) })
    }
  }

  /// One number of a report.
  func number(_ answer: ColumnAnswer) throws {
    switch format {
    case .csv: break
    case .text:
      let sides = [answer.value, answer.arithmetic].filter { !$0.isEmpty }
      let shown = sides.isEmpty ? "unknown" : sides.joined(separator: " = ")
      try line("\(padded(answer.column))\(shown)")
      let indent = padded("")
      if answer.entries > 0 { try line("\(indent)\(answer.rests)") }
      if let published = answer.published {
        let shown = published.isEmpty ? "it as unknown" : published
        try line("\(indent)the newest run published \(shown): what came since changes it")
      }
      if !answer.note.isEmpty { try line("\(indent)\(answer.note)") }
    case .json:
      var members: [(String, JSONValue)] = [
        ("column", .string(answer.column)),
        ("value", answer.value.isEmpty ? .null : .string(answer.value)),
        ("entries", .integer(answer.entries)), ("unknown", .integer(answer.unknown)),
        ("known", .string(answer.known)),
      ]
      if !answer.arithmetic.isEmpty { members.append(("arithmetic", .string(answer.arithmetic))) }
      if let published = answer.published { members.append(("published", .string(published))) }
      if !answer.note.isEmpty { members.append(("note", .string(answer.note))) }
      try json("number", members)
    }
  }

  /// A sentence; no CSV line.
  func note(_ text: String) throws {
    switch format {
    case .csv: break
    case .text: try line(text)
    case .json: try json("note", [("text", .string(text))])
    }
  }

  /// An entry with its events.
  func entry(_ entry: Entry) throws {
    switch format {
    case .csv: for cells in Self.cells(of: entry) { try line(csvLine(cells)) }
    case .text: for text in Self.lines(of: entry) { try line(text) }
    case .json:
      var members: [(String, JSONValue)] = [("step", .string(entry.step))]
      if let at = entry.at { members.append(("at", .string(at.text))) }
      if !entry.breakID.isEmpty { members.append(("break_id", .string(entry.breakID))) }
      let shares = entry.shares.map {
        ($0.column, $0.text.isEmpty ? .null : JSONValue.string($0.text))
      }
      if !shares.isEmpty {
        members.append(("shares", .object(Dictionary(shares, uniquingKeysWith: { $1 }))))
      }
      members.append(("events", .array(entry.events.map(\.json))))
      try json("entry", members)
    }
  }

  private func json(_ kind: String, _ members: [(String, JSONValue)]) throws {
    let all = [("is", JSONValue.string(kind))] + members
    try line(JSONValue.object(Dictionary(all, uniquingKeysWith: { $1 })).line)
  }

  private func line(_ text: String) throws { try line(Array(text.shown().utf8)) }

  private func line(_ bytes: [UInt8]) throws { try write(bytes + [UInt8(ascii: "\n")]) }

  private func padded(_ name: String) -> String {
    name + String(repeating: " ", count: max(1, 24 - name.count))
  }
}

extension ColumnAnswer {
  /// From how many entries it comes.
  var rests: String {
    var text = "\(entries) \(entries == 1 ? "entry" : "entries") below"
    if unknown > 0 { text += ", \(unknown) of them without a known amount" }
    return value.isEmpty ? "\(text); together \(known)" : text
  }
}
