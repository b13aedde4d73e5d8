internal import Domain

/// A cell's form of a foreign text as received: nothing in it can run in a spreadsheet (OWASP, "CSV
/// Injection") or control a terminal.
///
/// Different texts stay different; docs/reports.md explains how to restore a text.
public func cellText(_ text: String) -> String { guarded(text.escaped) }

/// The cell of a text that was escaped when it was read, such as an archive's name.
func nameText(_ name: String) -> String { guarded(name.shown()) }

/// The text that such a cell was printed from.
///
/// - Parameter isName: whether it was escaped when it was read, as archive names are.
public func receivedText(_ cell: String, isName: Bool = false) -> String {
  var rest = String(cell.dropFirst())
  let isGuarded =
    cell.hasPrefix("'") && rest.withUTF8 { isFormula(UnsafeRawBufferPointer($0)) }
  let text = isGuarded ? rest : cell
  guard !isName, text.contains("\\u{") else { return text }
  return text.replacing(/\\u\{([0-9a-f]+)\}/) { escape in
    UInt32(escape.1, radix: 16).flatMap(Unicode.Scalar.init).map(String.init)
      ?? String(escape.0)
  }
}

private func guarded(_ text: String) -> String {
  var text = text.utf8.contains(semicolon) ? withoutCellStarts(text) : text
  if text.withUTF8({ isFormula(UnsafeRawBufferPointer($0)) }) { text = "'" + text }
  return text
}

/// Escapes semicolons, at which a spreadsheet in many countries would start a cell that it runs.
private func withoutCellStarts(_ text: String) -> String {
  var rest = text.utf8[...]
  var bytes: [UInt8] = []
  while let byte = rest.popFirst() {
    if byte == semicolon, let next = rest.first, next == UInt8(ascii: "\"") || isRun(next) {
      bytes.append(contentsOf: "\\u{3b}".utf8)
    } else {
      bytes.append(byte)
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}

/// Whether a text needs an apostrophe in front: a spreadsheet would run it, or it looks like a text
/// that already got one.
///
/// Besides the ASCII signs, their full-width forms and escaped tabs and line ends count.
private func isFormula(_ bytes: UnsafeRawBufferPointer) -> Bool {
  let rest = bytes.drop { $0 == UInt8(ascii: "'") }
  guard let first = rest.first else { return false }
  if isRun(first) { return true }
  guard first == UInt8(ascii: "\\") || first > 0x7f else { return false }
  return formulaStarts.contains { rest.starts(with: $0.utf8) }
}

/// Whether a spreadsheet treats a cell that begins with `byte` as a formula.
private func isRun(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"): true
  default: false
  }
}

/// Whether a spreadsheet would show a text as another number or date, or the text looks like one
/// that already got an apostrophe.
func becomesNumber(_ text: String) -> Bool {
  let text = text.utf8.drop { $0 == UInt8(ascii: "'") }
  let isDigit = { (byte: UInt8) in UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
  guard let first = text.first, text.allSatisfy({ isDigit($0) || numberMarks.contains($0) }),
    isDigit(first) || ".,".utf8.contains(first) && text.contains(where: isDigit)
  else { return false }
  guard text.allSatisfy(isDigit) else { return true }
  return text.count >= 12 || first == UInt8(ascii: "0") && text.count > 1
}

/// Characters besides digits that numbers, dates and times contain.
private let numberMarks = Array(".,eE+-/:% ".utf8)
private let semicolon = UInt8(ascii: ";")
private let formulaStarts = ["\\u{9}", "\\u{a}", "\\u{d}", "＝", "＋", "－", "＠"]
