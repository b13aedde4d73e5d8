/// One row of a report as it was printed: the fields with their quotes.
struct RowRecord {
  let fields: [String]

  /// The rows of CSV text without header; quoted fields may hold commas.
  static func rows(of text: [UInt8]) -> [RowRecord] {
    var rows: [RowRecord] = []
    var fields: [String] = []
    var start = 0
    var isQuoted = false
    for (index, byte) in text.enumerated() {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      guard !isQuoted, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") else { continue }
      fields.append(String(decoding: text[start..<index], as: UTF8.self))
      start = index + 1
      if byte == UInt8(ascii: "\n") {
        rows.append(RowRecord(fields: fields))
        fields.removeAll(keepingCapacity: true)
      }
    }
    return rows
  }

  /// The row as it was printed, without line end.
  var text: String { fields.joined(separator: ",") }
}

/// What a row was when it was kept for later runs to compare with; it stands in the last field,
/// where the report says whether the row is complete.
enum KeptStanding: Equatable {
  /// The version's own run published it as complete.
  case complete
  /// That run did; later ones showed it as one that can change.
  case publishedBy(Int64)
  /// It was shown, and never complete.
  case neverComplete
}

extension RowRecord {
  var keptStanding: KeptStanding {
    switch fields.last {
    case "false": .neverComplete
    case let run?: Int64(run).map(KeptStanding.publishedBy) ?? .complete
    case nil: .complete
    }
  }

  /// The same row with another standing.
  func kept(as standing: KeptStanding) -> RowRecord {
    let last =
      switch standing {
      case .complete: "true"
      case .publishedBy(let run): String(run)
      case .neverComplete: "false"
      }
    return RowRecord(fields: fields.dropLast() + [last])
  }
}

extension CellFormat {
  /// How the measure of a row that does not exist reads; empty when nothing is to be known.
  var absent: String {
    switch self {
    case .integer: "0"
    case .amount: "0.00"
    default: ""
    }
  }

  /// `restated` − `published`, both as printed; empty when one of them is unknown.
  func delta(from published: String, to restated: String) -> String {
    guard let old = PrintedNumber.micros(published), let new = PrintedNumber.micros(restated)
    else { return "" }
    switch self {
    case .integer: return String((new - old) / 1_000_000)
    case .amount: return amountText(new - old)
    case .ratio:
      var line = CSVLine()
      line.add(micros: Int64(clamping: new - old), decimals: 6)
      return String(decoding: line.buffer, as: UTF8.self)
    default: return ""
    }
  }
}
