internal import Domain
internal import Foundation

// Encodes rows of the list of charges for another process.

extension ChargePart: Codable {
  /// Everything except `removed`, which no other process needs.
  private struct Coded: Codable {
    var bytes: Data
    var entries: [Entry]
    var totals: [Int32: ChargeTotals]
  }

  /// Reads what `encode` wrote.
  public init(from decoder: any Decoder) throws {
    self.init()
    let coded = try Coded(from: decoder)
    coded.bytes.withUnsafeBytes { lines.add(cells: $0) }
    entries = coded.entries
    for (month, sums) in coded.totals { totals[Month(number: month)] = sums }
    let isWhole = entries.allSatisfy {
      0...bytes.count ~= $0.start && 0...bytes.count - $0.start ~= $0.count
    }
    guard isWhole else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "rows end behind their bytes"))
    }
  }

  /// Writes the rows in order.
  public func encode(to encoder: any Encoder) throws {
    let sums = totals.map { ($0.key.number, $0.value) }
    try Coded(
      bytes: Data(bytes), entries: entries, totals: Dictionary(uniqueKeysWithValues: sums)
    ).encode(to: encoder)
  }
}
