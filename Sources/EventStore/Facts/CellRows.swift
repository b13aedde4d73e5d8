internal import Domain

/// The rows of one table of cells, in one array of integers.
///
/// A run can have a hundred thousand cells of twenty-five columns: one array each would cost more
/// than writing them.
public struct CellRows: Sendable {
  let table: String
  /// Number of columns of the primary key, which come first.
  let keyWidth: Int
  let width: Int
  private var values: [Int64] = []

  /// Creates the rows that `fill` appends, sorted by key.
  ///
  /// Reserves capacity for `count` rows: an array that grows needs up to three times its memory.
  init(
    table: String, keyWidth: Int, width: Int, count: Int, _ fill: (inout CellRows) -> Void
  ) {
    (self.table, self.keyWidth, self.width) = (table, keyWidth, width)
    values.reserveCapacity(count * width)
    fill(&self)
    sort()
  }

  mutating func append(_ row: Int64...) { append(row) }

  mutating func append(_ row: [Int64]) {
    precondition(row.count == width, "a cell has a value for every column")
    values.append(contentsOf: row)
  }

  /// Inserts these rows, whose keys the table does not have; rows of zeros are left out.
  func insert(in database: Connection) throws {
    var rest = stride(from: 0, to: values.count, by: width).filter(hasMeasure)[...]
    let row = "(\(Array(repeating: "?", count: width).joined(separator: ", ")))"
    for count in [Self.rowsAtOnce, 1] where rest.count >= count {
      let rows = Array(repeating: row, count: count).joined(separator: ", ")
      let statement = try database.statement("insert or fail into \(table) values \(rows)")
      while rest.count >= count {
        var mark: Int32 = 1
        for row in rest.prefix(count) {
          for column in 0..<width { statement.bind(mark + Int32(column), values[row + column]) }
          mark += Int32(width)
        }
        try statement.run()
        rest.removeFirst(count)
      }
    }
  }

  /// Rows per statement: starting and ending one costs SQLite more than a row does.
  private static let rowsAtOnce = 32

  /// Adds these rows to those of the table; a row that becomes zero is removed.
  func add(in database: Connection) throws {
    guard !values.isEmpty else { return }
    let columns = try database.columns(in: table)
    let keys = columns[..<keyWidth]
    let measures = columns[keyWidth...]
    let sums = measures.map { measure in
      if measures.contains("\(measure)_unknown") { return "\(measure) = \(Self.sum(of: measure))" }
      let amount = measure.hasSuffix("_unknown") ? String(measure.dropLast(8)) : nil
      let carries = amount.map { " + \(Self.carries(of: $0)) * \(PartialSum.carry)" } ?? ""
      return "\(measure) = \(measure) + excluded.\(measure)\(carries)"
    }
    let marks = (1...width).map { "?\($0)" }.joined(separator: ", ")
    let upsert = try database.statement(
      """
      insert into \(table) values (\(marks)) on conflict (\(keys.joined(separator: ", ")))
      do update set \(sums.joined(separator: ", "))
      """)
    let key = keys.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: " and ")
    let isNothing = measures.map { "\($0) = 0" }.joined(separator: " and ")
    let clear = try database.statement("delete from \(table) where \(key) and \(isNothing)")
    for row in stride(from: 0, to: values.count, by: width) where hasMeasure(row) {
      for column in 0..<width { upsert.bind(Int32(column + 1), values[row + column]) }
      try upsert.run()
      for column in 0..<keyWidth { clear.bind(Int32(column + 1), values[row + column]) }
      try clear.run()
    }
  }

  /// Returns the remainder of a sum of two amounts after the carry, as in `PartialSum`.
  private static func sum(of amount: String) -> String {
    "\(amount) + excluded.\(amount) - \(carries(of: amount)) * \(2 * PartialSum.sumMax)"
  }

  private static func carries(of amount: String) -> String {
    let (sum, most) = ("\(amount) + excluded.\(amount)", PartialSum.sumMax)
    return "((\(sum) >= \(most)) - (\(sum) < -\(most)))"
  }

  /// The rows as text: table, number of key columns, number of columns, and the numbers.
  public var text: String {
    "\(table) \(keyWidth) \(width) " + values.map(String.init).joined(separator: " ")
  }

  /// Parses the rows of a `text`; nil when it has another form.
  public init?(text: Substring) {
    let parts = text.utf8.split(separator: UInt8(ascii: " ")).map(Substring.init)
    guard parts.count > 2, let table = Facts.tables.first(where: { $0 == parts[0] }),
      let keyWidth = Int(parts[1]), let width = Int(parts[2]), 1...max(1, width) ~= keyWidth
    else { return nil }
    let numbers = parts.dropFirst(3).compactMap { Int64($0) }
    guard numbers.count == parts.count - 3, numbers.count % width == 0 else { return nil }
    (self.table, self.keyWidth, self.width, values) = (table, keyWidth, width, numbers)
  }

  private func hasMeasure(_ row: Int) -> Bool {
    values[(row + keyWidth)..<(row + width)].contains { $0 != 0 }
  }

  /// Sorts the rows by key, so that pages are filled one after another.
  private mutating func sort() {
    let starts = values.withUnsafeBufferPointer { values in
      stride(from: 0, to: values.count, by: width).sorted { left, right in
        for column in 0..<keyWidth where values[left + column] != values[right + column] {
          return values[left + column] < values[right + column]
        }
        return false
      }
    }
    var sorted: [Int64] = []
    sorted.reserveCapacity(values.count)
    for start in starts { sorted += values[start..<start + width] }
    values = sorted
  }
}
