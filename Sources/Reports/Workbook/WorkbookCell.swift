internal import Domain
internal import Formats

/// The value of a spreadsheet cell; with its format, it shows what the CSV file contains.
///
/// Spreadsheets calculate with binary fractions. Only here does a printed number become one, and
/// only with few enough digits to be shown exactly.
enum WorkbookCell: Equatable {
  case empty
  /// Ids, words and instants, even if they look like numbers.
  case text(String)
  /// A number with as many decimals as printed.
  case number(Double, decimals: Int)
  /// Days since 1899-12-30; for a month, its first day.
  case day(Int)
  case month(Int)
  case flag(Bool)

  /// LibreOffice rounds some numbers of 15 digits.
  private static let digitsMax = 14

  /// The cell for a printed text, by the type of its column.
  init(_ text: String, type: String) {
    let typed: WorkbookCell? =
      switch type {
      case _ where text.isEmpty: .empty
      case "integer", "number": Self.number(text)
      case "date": Self.serial(text).map(Self.day)
      case "yearmonth": Self.serial(text + "-01").map(Self.month)
      case "boolean": .flag(text == "true")
      default: nil
      }
    self = typed ?? .text(Self.shown(text))
  }

  /// The length limit of a cell's text, in UTF-16 units.
  private static let textMax = 32_767

  /// Escapes a text for a spreadsheet, which reads `_x0041_` as a letter; a text that is too long
  /// ends in an ellipsis.
  private static func shown(_ text: String) -> String {
    var text = text
    let bytes = text.utf8
    if zip(bytes, bytes.dropFirst()).contains(where: { $0 == 0x5f && $1 == 0x78 }) {
      text = text.replacing(/_(?=x[0-9A-Fa-f]{4}_)/, with: "_x005F_")
    }
    // Noncharacters, which the XML of a sheet must not contain.
    if bytes.contains(0xef) { text = text.replacing(/[\u{fffe}\u{ffff}]/, with: "\u{fffd}") }
    guard text.utf8.count > textMax, text.utf16.count > textMax else { return text }
    return String(decoding: text.utf16.prefix(textMax - 1), as: UTF16.self) + "…"
  }

  private static func number(_ text: String) -> WorkbookCell? {
    guard text.utf8.count(where: { (48...57).contains($0) }) <= digitsMax,
      let number = Double(text)
    else { return nil }
    let fraction = text.split(separator: ".").dropFirst().first
    return .number(number, decimals: fraction?.utf8.count ?? 0)
  }

  /// Spreadsheets have no days before 1900, and treat that year as a leap year.
  private static func serial(_ text: String) -> Int? {
    let day = InstantText.rfc3339(text).map(CivilCalendar.utc.day)
    return day.flatMap { $0.date.year > 1900 ? Int($0.number) + 25_569 : nil }
  }
}
