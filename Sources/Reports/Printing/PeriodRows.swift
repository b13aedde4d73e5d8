internal import Domain
internal import EventStore

/// The rows of one period, held in memory to be sorted by their words.
///
/// SQLite sorts only by the period, as cells are stored; the rows of one period fit in memory.
struct PeriodRows {
  /// A value of the row that sorts it.
  struct Key {
    /// The value's index in the row.
    let column: Int
    /// The words that it refers to; nil for a number, whose nulls sort first.
    let part: Labels.Part?
  }

  /// The period; nil before the first row.
  private(set) var number: Int64?
  private let width: Int
  private let keys: [Key]
  private let labels: Labels
  private var values: [Int64] = []
  /// One bit per column, set where the value is null.
  private var nulls: [UInt64] = []
  private var ranks: [Int64] = []

  /// An empty buffer for rows of `width` values, sorted by `keys`.
  init(width: Int, keys: [Key], labels: Labels) {
    precondition(width <= UInt64.bitWidth, "each value needs a bit that marks null")
    self.width = width
    self.keys = keys
    self.labels = labels
  }

  /// Removes the rows and keeps their memory.
  mutating func removeAll() {
    number = nil
    values.removeAll(keepingCapacity: true)
    nulls.removeAll(keepingCapacity: true)
    ranks.removeAll(keepingCapacity: true)
  }

  /// Adds a row whose values are at `places`; the first one is the period.
  mutating func append(_ row: Statement, _ places: [Int32]) throws(SubledgerError) {
    number = row.number(places[0])
    let start = values.count
    var null: UInt64 = 0
    for column in 0..<width {
      let value = row.number(places[column])
      // Null reads as 0, and a null check costs as much as a read.
      if value == 0, row.isNull(places[column]) { null |= 1 << UInt64(column) }
      values.append(value)
    }
    nulls.append(null)
    for key in keys {
      let value = values[start + key.column]
      if let part = key.part {
        ranks.append(try labels.rank(value, part))
      } else {
        ranks.append(null & 1 << UInt64(key.column) == 0 ? value : .min)
      }
    }
  }

  /// Indices of the rows, sorted by key.
  var order: [Int] {
    let count = keys.count
    return ranks.withUnsafeBufferPointer { ranks in
      nulls.indices.sorted { left, right in
        for key in 0..<count {
          let (one, other) = (ranks[left * count + key], ranks[right * count + key])
          if one != other { return one < other }
        }
        return left < right
      }
    }
  }

  /// A value of the row at index `row`; nil for null.
  @inline(__always)
  func value(_ row: Int, _ column: Int) -> Int64? {
    nulls[row] & 1 << UInt64(column) == 0 ? values[row * width + column] : nil
  }
}
