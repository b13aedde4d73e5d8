internal import Domain

/// Lines of RFC 4180 as a spreadsheet reads them without changing them, and back.
struct SpreadsheetLines: Sendable {
  private enum Kind {
    case text, decimal, other
  }

  private let kinds: [Kind]
  private let dialect: CSVDialect

  init(_ columns: [Column], _ dialect: CSVDialect) {
    self.dialect = dialect
    kinds = columns.map {
      switch $0.format {
      case .text, .printed, .name, .word: .text
      case .amount, .percent, .ratio, .numeral: .decimal
      default: .other
      }
    }
  }

  /// The line as it is printed.
  func printed(_ line: UnsafeRawBufferPointer) -> [UInt8] {
    converted(line, from: comma, to: separator) { cell, kind in
      if kind == .text, Self.isChanged(cell) { cell.insert(apostrophe, at: 0) }
      if kind == .decimal, dialect.hasDecimalComma { Self.replace(point, by: comma, in: &cell) }
    }
  }

  /// The line in RFC 4180 that was printed so.
  func read(_ line: UnsafeRawBufferPointer) -> [UInt8] {
    converted(line, from: separator, to: comma) { cell, kind in
      if kind == .text, cell.first == apostrophe, Self.isChanged(cell) { cell.removeFirst() }
      if kind == .decimal, dialect.hasDecimalComma { Self.replace(comma, by: point, in: &cell) }
    }
  }

  private var separator: UInt8 { UInt8(ascii: dialect.separator) }

  private func converted(
    _ line: UnsafeRawBufferPointer, from old: UInt8, to new: UInt8,
    _ change: (inout [UInt8], Kind) -> Void
  ) -> [UInt8] {
    var result: [UInt8] = []
    var cell: [UInt8] = []
    var (place, isQuoted) = (0, false)
    func end() {
      change(&cell, place < kinds.count ? kinds[place] : .other)
      let needsQuotes = cell.contains { $0 == new || $0 == quote }
      if place > 0 { result.append(new) }
      if needsQuotes { result.append(quote) }
      for byte in cell {
        result.append(byte)
        if byte == quote { result.append(quote) }
      }
      if needsQuotes { result.append(quote) }
      cell.removeAll(keepingCapacity: true)
      place += 1
    }
    for (index, byte) in line.enumerated() {
      if byte == quote {
        // The second one of two is part of the text.
        if !isQuoted, index > 0, line[index - 1] == quote { cell.append(quote) }
        isQuoted.toggle()
      } else if byte == old, !isQuoted {
        end()
      } else {
        cell.append(byte)
      }
    }
    end()
    return result
  }

  private static func replace(_ old: UInt8, by new: UInt8, in cell: inout [UInt8]) {
    for index in cell.indices where cell[index] == old { cell[index] = new }
  }

  /// Whether a spreadsheet takes a text for a number or a date that it shows otherwise, or it looks
  /// like one that has got its apostrophe.
  private static func isChanged(_ cell: [UInt8]) -> Bool {
    let text = cell.drop { $0 == apostrophe }
    guard let first = text.first, text.allSatisfy({ isDigit($0) || marks.contains($0) }),
      isDigit(first) || [point, comma].contains(first) && text.contains(where: isDigit)
    else { return false }
    guard text.allSatisfy(isDigit) else { return true }
    return text.count >= 12 || first == UInt8(ascii: "0") && text.count > 1
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// What numbers, dates and times have besides digits.
  private static let marks = Array(".,eE+-/:% ".utf8)
}

private let comma = UInt8(ascii: ",")
private let point = UInt8(ascii: ".")
private let quote = UInt8(ascii: "\"")
private let apostrophe = UInt8(ascii: "'")
