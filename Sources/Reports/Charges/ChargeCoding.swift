internal import Domain
internal import Foundation

// Encodes rows of the list of charges for another process.

extension ChargePart: Codable {
  private enum CodingKeys: CodingKey { case bytes, milliseconds, days, counts, totals }

  /// Reads what `encode` wrote.
  public init(from decoder: any Decoder) throws {
    self.init()
    let values = try decoder.container(keyedBy: CodingKeys.self)
    bytes = [UInt8](try values.decode(Data.self, forKey: .bytes))
    let milliseconds = try values.decode([Int64].self, forKey: .milliseconds)
    let days = try values.decode([Int32].self, forKey: .days)
    let counts = try values.decode([Int].self, forKey: .counts)
    for (month, sums) in try values.decode([Int32: ChargeTotals].self, forKey: .totals) {
      totals[Month(number: month)] = sums
    }
    var start = 0
    for (index, count) in counts.enumerated() {
      guard count >= 0, count <= bytes.count - start, milliseconds.indices.contains(index),
        days.indices.contains(index)
      else {
        throw DecodingError.dataCorruptedError(
          forKey: .counts, in: values, debugDescription: "rows end behind their bytes")
      }
      entries.append(
        Entry(
          milliseconds: milliseconds[index], day: Day(number: days[index]), start: start,
          count: count))
      start += count
    }
  }

  /// Writes the rows in order, without `removed`, which no other process needs.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    var ordered = Data(capacity: bytes.count)
    for entry in entries {
      ordered.append(contentsOf: bytes[entry.start..<entry.start + entry.count])
    }
    try values.encode(ordered, forKey: .bytes)
    try values.encode(entries.map(\.milliseconds), forKey: .milliseconds)
    try values.encode(entries.map(\.day.number), forKey: .days)
    try values.encode(entries.map(\.count), forKey: .counts)
    let numbered = totals.map { ($0.key.number, $0.value) }
    try values.encode(Dictionary(uniqueKeysWithValues: numbered), forKey: .totals)
  }
}
