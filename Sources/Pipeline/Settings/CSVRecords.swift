struct CSVRecord: Sendable, Equatable {
  /// The physical line on which the record begins, from 1.
  var line: Int
  var fields: [String]
}

/// The reason why a CSV file cannot be read further: RFC 4180 defines exactly where fields end, and
/// a reader that guesses assigns amounts to wrong columns.
struct CSVProblem: Error, Sendable, Equatable {
  /// Physical line, from 1.
  var line: Int
  /// Number of the field, from 1.
  var column: Int
  var reason: String
}

/// Reads comma-separated values strictly as RFC 4180 defines them.
///
/// LF or CRLF, quotes around a whole field and doubled inside it, UTF-8 with or without a byte
/// order mark. Empty lines are skipped.
struct CSVReader {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var column = 1

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
  }

  /// Returns the next record; nil at the end of the file.
  mutating func next() throws(CSVProblem) -> CSVRecord? {
    while try skipLineEnd() {}
    guard position < bytes.count else { return nil }
    var record = CSVRecord(line: line, fields: [])
    column = 1
    while true {
      record.fields.append(try field())
      guard position < bytes.count, bytes[position] == comma else { break }
      position += 1
      column += 1
    }
    if position == bytes.count { return record }
    if try skipLineEnd() { return record }
    throw problem("a quoted field must end at a comma or at the end of the line")
  }

  private mutating func field() throws(CSVProblem) -> String {
    if position < bytes.count, bytes[position] == quote { return try quotedField() }
    let start = position
    while position < bytes.count, ![comma, lineFeed, carriageReturn].contains(bytes[position]) {
      guard bytes[position] != quote else {
        throw problem("a field with a quote inside must be quoted, its quotes doubled")
      }
      position += 1
    }
    return try text(Array(bytes[start..<position]))
  }

  private mutating func quotedField() throws(CSVProblem) -> String {
    let opening = problem("a quoted field is never closed")
    var content: [UInt8] = []
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == quote {
        guard position < bytes.count, bytes[position] == quote else { return try text(content) }
        position += 1
      }
      if byte == lineFeed { line += 1 }
      content.append(byte)
    }
    throw opening
  }

  /// Skips one line end; false if there is none.
  private mutating func skipLineEnd() throws(CSVProblem) -> Bool {
    guard position < bytes.count else { return false }
    if bytes[position] == carriageReturn {
      guard position + 1 < bytes.count, bytes[position + 1] == lineFeed else {
        throw problem("a carriage return must be followed by a line feed, or be quoted")
      }
      position += 1
    }
    guard bytes[position] == lineFeed else { return false }
    position += 1
    line += 1
    return true
  }

  private func text(_ bytes: [UInt8]) throws(CSVProblem) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw problem("the field is not UTF-8")
    }
    return text
  }

  private func problem(_ reason: String) -> CSVProblem {
    CSVProblem(line: line, column: column, reason: reason)
  }
}

private let comma = UInt8(ascii: ",")
private let quote = UInt8(ascii: "\"")
private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
