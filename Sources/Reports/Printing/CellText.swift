internal import Domain

/// What a cell shows of a foreign text, as it was received: nothing that a spreadsheet would run
/// (OWASP, "CSV Injection") or that would steer a terminal.
///
/// Different texts stay different: docs/reports.md explains how to restore a text.
public func cellText(_ text: String) -> String { guarded(text.escaped) }

/// The cell of a text that was escaped when it was read, as names of archives are.
func nameText(_ name: String) -> String { guarded(name.shown()) }

/// The text of which such a cell was made.
///
/// - Parameter isName: whether it was escaped when it was read, as names of archives are.
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

/// Escapes semicolons at which a spreadsheet of many countries would begin a cell that it runs.
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

/// Whether a text needs an apostrophe in front: it would be run, or looks like one that has got
/// it.
///
/// Beside the signs of ASCII, their full-width forms and escaped tabs and line ends count.
private func isFormula(_ bytes: UnsafeRawBufferPointer) -> Bool {
  let rest = bytes.drop { $0 == UInt8(ascii: "'") }
  guard let first = rest.first else { return false }
  if isRun(first) { return true }
  guard first == UInt8(ascii: "\\") || first > 0x7f else { return false }
  return formulaStarts.contains { rest.starts(with: $0.utf8) }
}

/// Whether a spreadsheet takes a cell for a formula that begins with `byte`.
private func isRun(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"): true
  default: false
  }
}

/// Whether a spreadsheet takes a text for a number or a date that it shows otherwise, or it looks
/// like one that has got its apostrophe.
func becomesNumber(_ text: String) -> Bool {
  let text = text.utf8.drop { $0 == UInt8(ascii: "'") }
  let isDigit = { (byte: UInt8) in UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
  guard let first = text.first, text.allSatisfy({ isDigit($0) || numberMarks.contains($0) }),
    isDigit(first) || ".,".utf8.contains(first) && text.contains(where: isDigit)
  else { return false }
  guard text.allSatisfy(isDigit) else { return true }
  return text.count >= 12 || first == UInt8(ascii: "0") && text.count > 1
}

/// What numbers, dates and times have besides digits.
private let numberMarks = Array(".,eE+-/:% ".utf8)
private let semicolon = UInt8(ascii: ";")
private let formulaStarts = ["\\u{9}", "\\u{a}", "\\u{d}", "＝", "＋", "－", "＠"]
