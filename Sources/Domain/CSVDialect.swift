/// How the cells and lines of a CSV file are written.
public enum CSVDialect: String, CaseIterable, Decodable, Sendable {
  /// Comma, LF, no byte order mark.
  case rfc4180
  /// Comma, CRLF, a byte order mark, ids as text, as spreadsheets expect it.
  case excel
  /// The same for countries with a decimal comma: semicolon.
  case cs = "excel-cs", da = "excel-da", de = "excel-de", es = "excel-es", fi = "excel-fi"
  case fr = "excel-fr", it = "excel-it", nb = "excel-nb", nl = "excel-nl", pl = "excel-pl"
  case pt = "excel-pt", ru = "excel-ru", sv = "excel-sv", tr = "excel-tr"

  /// Between the cells of a line: a comma, or a semicolon.
  public var separator: Unicode.Scalar { hasDecimalComma ? ";" : "," }

  /// Whether amounts have a comma in the place of the point.
  public var hasDecimalComma: Bool { self != .rfc4180 && self != .excel }
}
