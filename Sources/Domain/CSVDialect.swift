/// How lines end and begin in a CSV file.
public enum CSVDialect: String, CaseIterable, Decodable, Sendable {
  /// Comma, LF, no byte order mark.
  case rfc4180
  /// Comma, CRLF, a byte order mark, as spreadsheets expect it.
  case excel
}
