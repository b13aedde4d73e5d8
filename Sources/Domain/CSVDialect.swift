/// The format of cells and lines in a CSV file.
public enum CSVDialect: String, CaseIterable, Decodable, Sendable {
  /// Comma, LF, no byte order mark.
  case rfc4180
  /// Comma, CRLF, byte order mark, ids as text: the format that spreadsheets expect.
  case excel
  /// `excel` for countries with a decimal comma: the separator is a semicolon.
  case cs = "excel-cs", da = "excel-da", de = "excel-de", es = "excel-es", fi = "excel-fi"
  case fr = "excel-fr", it = "excel-it", nb = "excel-nb", nl = "excel-nl", pl = "excel-pl"
  case pt = "excel-pt", ru = "excel-ru", sv = "excel-sv", tr = "excel-tr"

  /// The separator between cells: a comma or a semicolon.
  public var separator: Unicode.Scalar { hasDecimalComma ? ";" : "," }

  /// Whether amounts have a decimal comma instead of a decimal point.
  public var hasDecimalComma: Bool { self != .rfc4180 && self != .excel }
}
