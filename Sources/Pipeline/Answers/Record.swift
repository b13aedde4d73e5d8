import Reports
import Domain

/// The format of a command's answer.
public enum AnswerFormat: String, CaseIterable, Sendable {
  /// Text for a person.
  case text
  /// One line per row, RFC 4180.
  case csv
  /// One JSON object per row, or one for the whole answer.
  case json
}

/// A row of a command's answer: named values in order, written alike as text, CSV and JSON.
struct Record {
  typealias Table = (name: String, records: [Record])

  private(set) var fields: [(name: String, value: CSVCell)]

  init(_ fields: [(name: String, value: CSVCell)]) { self.fields = fields }

  subscript(name: String) -> CSVCell {
    get { fields.first { $0.name == name }?.value ?? .plain("") }
    set {
      if let index = fields.firstIndex(where: { $0.name == name }) {
        fields[index].value = newValue
      } else {
        fields.append((name, newValue))
      }
    }
  }

  static func + (left: Record, right: Record) -> Record { Record(left.fields + right.fields) }

  /// Returns a line with these columns; a missing field is empty.
  func csv(_ columns: [String]) -> [UInt8] { csvLine(columns.map { self[$0] }) }

  /// Returns the fields as a JSON object, in which empty values are null, with additional members,
  /// and with tables as lists of objects.
  func json(with members: [String: JSONValue] = [:], _ tables: [Table] = []) -> JSONValue {
    let lists = tables.map { ($0.name, JSONValue.array($0.records.map { $0.json() })) }
    return .object(members.merging(lists + fields.map { ($0.name, $0.value.json) }) { $1 })
  }

  /// The fields as aligned lines of name and value.
  var lines: [String] {
    fields.map { $0.value.raw.isEmpty ? $0.name : padded($0.name, to: 23) + " \($0.value.shown)" }
  }

  /// Returns the lines, followed by the tables that have rows.
  func text(above tables: [Table]) -> String {
    let sections = tables.filter { !$0.records.isEmpty }.map { name, records in
      [name] + Self.table(records).map { "  " + $0 }
    }
    return ([lines] + sections).map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  /// Returns a heading and a line per record, in columns; numbers are right-aligned.
  static func table(_ records: [Record]) -> [String] {
    guard let first = records.first else { return [] }
    let rows = [first.fields.map(\.name)] + records.map { $0.fields.map(\.value.shown) }
    let isNumber = first.fields.indices.map { column in
      records.map { $0.fields[column].value }.allSatisfy { $0.isNumber || $0.raw.isEmpty }
    }
    let widths = first.fields.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { cells in
      let columns = cells.indices.map { column in
        let gap = String(repeating: " ", count: widths[column] - cells[column].count)
        return isNumber[column] ? gap + cells[column] : cells[column] + gap
      }
      let line = columns.joined(separator: "  ")
      return line.lastIndex { $0 != " " }.map { String(line[...$0]) } ?? ""
    }
  }

  /// Returns a Markdown table with a row per record; texts from outside are shown literally.
  static func markdown(_ records: [Record]) -> [String] {
    guard let first = records.first else { return [] }
    let isNumber = first.fields.indices.map { column in
      records.contains { $0.fields[column].value.isNumber }
    }
    let rows = records.map { $0.fields.map { escapedForMarkdown($0.value.shown) } }
    return ([first.fields.map(\.name), isNumber.map { $0 ? "--:" : "---" }] + rows)
      .map { "| \($0.joined(separator: " | ")) |" }
  }

  private static func escapedForMarkdown(_ text: String) -> String {
    String(text.flatMap { "\\`*_[]<>|#".contains($0) ? ["\\", $0] : [$0] })
  }
}

extension Record: ExpressibleByDictionaryLiteral {
  init(dictionaryLiteral fields: (String, CSVCell)...) { self.init(fields.map { ($0, $1) }) }
}

extension CSVCell {
  /// Creates a cell with the text of the instant; empty for nil.
  init(_ instant: Instant?) { self = .plain(instant?.text ?? "") }

  /// The value without quotes or escapes.
  var raw: String {
    switch self {
    case .plain(let text), .text(let text), .name(let text): text
    case .integer(let number): String(number)
    }
  }

  /// The value as shown on a terminal.
  var shown: String { if case .text(let text) = self { text.escaped } else { raw.shown() } }

  var isNumber: Bool { if case .integer = self { true } else { false } }

  var json: JSONValue {
    switch self {
    case .integer(let number): .integer(number)
    case .plain("true"): .bool(true)
    case .plain("false"): .bool(false)
    default: raw.isEmpty ? .null : .string(raw)
    }
  }
}

/// Returns `text` padded with spaces to `width` characters.
func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}
