internal import Domain
internal import EventStore

/// The rows of one period, gathered to be put in the order of their words.
///
/// SQLite sorts by the period alone, in whose order the cells lie. What one period has can be held.
struct PeriodRows {
  /// A value of the row that orders it.
  struct Key {
    /// The value's place in the row.
    let column: Int
    /// The words that it refers to; nil for a number, which sorts nil first.
    let part: Labels.Part?
  }

  /// The period; nil before the first row.
  private(set) var number: Int64?
  private let width: Int
  private let keys: [Key]
  private let lexicon: Labels
  private var values: [Int64] = []
  /// A bit a column, set where the value is null.
  private var nulls: [UInt64] = []
  private var ranks: [Int64] = []

  /// Storage for rows of `width` values, ordered by `keys`.
  init(width: Int, keys: [Key], lexicon: Labels) {
    precondition(width <= UInt64.bitWidth, "each value needs a bit that marks null")
    self.width = width
    self.keys = keys
    self.lexicon = lexicon
  }

  /// Forgets the rows and keeps their memory.
  mutating func removeAll() {
    number = nil
    values.removeAll(keepingCapacity: true)
    nulls.removeAll(keepingCapacity: true)
    ranks.removeAll(keepingCapacity: true)
  }

  /// Adds a row, whose first value is the period.
  mutating func append(_ row: Statement) throws(SubledgerError) {
    number = row.number(0)
    let start = values.count
    var null: UInt64 = 0
    for column in 0..<width {
      let value = row.number(Int32(column))
      // Null reads as 0, and to ask for it costs as much as to read.
      if value == 0, row.isNull(Int32(column)) { null |= 1 << UInt64(column) }
      values.append(value)
    }
    nulls.append(null)
    for key in keys {
      let value = values[start + key.column]
      if let part = key.part {
        ranks.append(try lexicon.rank(value, part))
      } else {
        ranks.append(null & 1 << UInt64(key.column) == 0 ? value : .min)
      }
    }
  }

  /// The rows, each by its place, in the order of their keys.
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

  /// A value of the row at place `row`; nil for null.
  @inline(__always)
  func value(_ row: Int, _ column: Int) -> Int64? {
    nulls[row] & 1 << UInt64(column) == 0 ? values[row * width + column] : nil
  }
}
