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
  var text = text
  if text.utf8.contains(UInt8(ascii: ";")) {
    // There, a spreadsheet in many countries would start a cell that it runs.
    text = text.replacing(/;(?=["=+\-@])/.matchingSemantics(.unicodeScalar), with: #"\u{3b}"#)
  }
  if text.withUTF8({ isFormula(UnsafeRawBufferPointer($0)) }) { text = "'" + text }
  return text
}

/// Whether a text needs an apostrophe in front: a spreadsheet would run it, or it looks like a text
/// that already got one.
///
/// Besides the ASCII signs, their full-width forms and escaped tabs and line ends count.
private func isFormula(_ bytes: UnsafeRawBufferPointer) -> Bool {
  let rest = bytes.drop { $0 == UInt8(ascii: "'") }
  switch rest.first ?? 0 {
  case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"): return true
  case UInt8(ascii: "\\"), 0x80...: return formulaStarts.contains { rest.starts(with: $0.utf8) }
  default: return false
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
private let formulaStarts = ["\\u{9}", "\\u{a}", "\\u{d}", "＝", "＋", "－", "＠"]
