/// Sums of a report's columns for each combination of values in other columns.
public struct Cube {
  /// The report's name.
  public let report: String
  /// The columns that group the sums.
  public let dimensions: [String]
  private let measures: [String]
  /// Per measure: whether the greatest value is kept instead of the sum.
  private let isGreatest: [Bool]
  /// Sums by the values of the dimensions; nil where every cell is empty, that is, unknown.
  public private(set) var sums: [[String]: [Int128?]] = [:]
  /// Values of the dimensions that have an incomplete row.
  private(set) var incompleteKeys: Set<[String]> = []

  /// Values of the first dimension, the period, that have an incomplete row.
  public var incomplete: Set<String> { Set(incompleteKeys.compactMap(\.first)) }

  /// The cube of `tables`, files of one report, or of all its files.
  public init(
    _ set: ReportSet, _ report: String, by dimensions: [String], of measures: [String],
    greatest: Set<String> = [], in tables: [ReportTable]? = nil
  ) throws {
    self.init(report, dimensions, measures, measures.map(greatest.contains))
    for table in tables ?? set.tables(of: report) {
      let names = table.columns.map(\.name)
      let keys = dimensions.compactMap(names.firstIndex)
      let cells = measures.compactMap(names.firstIndex)
      let isComplete = names.firstIndex(of: "is_complete")
      guard keys.count == dimensions.count, cells.count == measures.count else { continue }
      // Far fewer than rows.
      var groups: [(key: [String], sums: [Int128?])] = []
      var places: [String: Int] = [:]
      try set.forEachRow(of: table) { row in
        let text = row.joined(keys)
        let place = places[text] ?? groups.count
        if place == groups.count {
          places[text] = place
          groups.append((keys.map { row[$0] }, measures.map { _ in nil }))
        }
        for index in cells.indices {
          let value = row.micros(cells[index]).map { Int128($0) }
          add(value, to: &groups[place].sums[index], index)
        }
        if let isComplete, row[isComplete] == "false" { incompleteKeys.insert(groups[place].key) }
      }
      for group in groups { add(group.sums, to: group.key) }
    }
  }

  private init(
    _ report: String, _ dimensions: [String], _ measures: [String], _ isGreatest: [Bool]
  ) {
    (self.report, self.dimensions, self.measures) = (report, dimensions, measures)
    self.isGreatest = isGreatest
  }

  /// The sums grouped by fewer dimensions; the period comes first if it is one of them.
  public func by(_ fewer: String...) -> Cube {
    var cube = Cube(report, fewer, measures, isGreatest)
    let places = fewer.compactMap(dimensions.firstIndex)
    cube.incompleteKeys = Set(incompleteKeys.map { key in places.map { key[$0] } })
    for (key, values) in sums { cube.add(values, to: places.map { key[$0] }) }
    return cube
  }

  /// The sums of the rows with wanted values of a dimension.
  public func filtered(_ dimension: String, _ isWanted: (String) -> Bool) -> Cube {
    var cube = self
    if let place = dimensions.firstIndex(of: dimension) {
      cube.sums = sums.filter { isWanted($0.key[place]) }
    }
    return cube
  }

  /// The sum of a column over the rows with these values: 0 without rows, nil if unknown.
  public func sum(_ measure: String, _ key: [String]) -> Int128? {
    guard let place = measures.firstIndex(of: measure), let values = sums[key] else { return 0 }
    return values[place]
  }

  /// The values of a dimension, sorted by bytes.
  public func values(of dimension: String) -> [String] {
    guard let place = dimensions.firstIndex(of: dimension) else { return [] }
    return Set(sums.keys.map { $0[place] }).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private mutating func add(_ values: [Int128?], to key: [String]) {
    guard var sum = sums[key] else {
      sums[key] = values
      return
    }
    for index in values.indices { add(values[index], to: &sum[index], index) }
    sums[key] = sum
  }

  private func add(_ value: Int128?, to sum: inout Int128?, _ measure: Int) {
    guard let value else { return }
    guard let known = sum else { return sum = value }
    sum = isGreatest[measure] ? max(known, value) : known + value
  }
}
