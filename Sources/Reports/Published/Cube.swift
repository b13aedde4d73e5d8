internal import Domain

/// Which columns of a report a cube adds up, and how it groups them.
public struct CubeShape: Sendable {
  let report: String
  var dimensions: [String]
  let measures: [String]
  /// Per measure: whether the greatest value is kept instead of the sum.
  let isGreatest: [Bool]
  /// How many months up to that of the report's last file are read.
  let months: Int

  /// The sums of `measures` in the last months of a report, grouped by `dimensions`.
  public init(
    _ report: String, by dimensions: [String] = [], of measures: [String] = [],
    greatest: Set<String> = [], months: Int = .max
  ) {
    (self.report, self.dimensions, self.measures) = (report, dimensions, measures)
    (isGreatest, self.months) = (measures.map(greatest.contains), months)
  }

  /// All sums of a report.
  init(_ report: ReportDefinition, by dimensions: [String]) {
    let sums = report.columns.filter { $0.addition != .none }
    self.init(report.name, by: dimensions, of: sums.map(\.name))
  }
}

/// Sums of a report's columns for each combination of values in other columns.
public struct Cube: Sendable {
  private var shape: CubeShape
  /// Sums by the values of the dimensions; nil where every cell is empty, that is, unknown.
  public private(set) var sums: [[String]: [Int128?]] = [:]
  /// Values of the dimensions that have an incomplete row.
  private(set) var incompleteKeys: Set<[String]> = []

  /// Values of the first dimension, the period, that have an incomplete row.
  public var incomplete: Set<String> { Set(incompleteKeys.compactMap(\.first)) }

  /// The sums of a set's files.
  public init(_ shape: CubeShape, of set: ReportSet) throws {
    self.shape = shape
    let tables = set.tables(of: shape.report)
    let last = tables.last?.month.map { Int($0.number) } ?? 0
    for table in tables where table.month.map({ last - Int($0.number) < shape.months }) ?? true {
      let names = table.columns.map(\.name)
      let keys = dimensions.compactMap(names.firstIndex)
      let cells = shape.measures.compactMap(names.firstIndex)
      let isComplete = names.firstIndex(of: "is_complete")
      guard keys.count == dimensions.count, cells.count == shape.measures.count else { continue }
      // Far fewer than rows.
      var groups: [(key: [String], sums: [Int128?])] = []
      var places: [String: Int] = [:]
      try set.forEachRow(of: table) { row in
        let text = row.joined(keys)
        let place = places[text] ?? groups.count
        if place == groups.count {
          places[text] = place
          groups.append((keys.map { row[$0] }, cells.map { _ in nil }))
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

  init(_ shape: CubeShape) { self.shape = shape }

  /// The report's name.
  public var report: String { shape.report }

  /// The columns that group the sums.
  public var dimensions: [String] { shape.dimensions }

  /// The sums grouped by fewer dimensions; the period comes first if it is one of them.
  public func by(_ fewer: String...) -> Cube {
    var cube = Cube(shape)
    cube.shape.dimensions = fewer
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
    guard let place = shape.measures.firstIndex(of: measure) else { return 0 }
    return sums[key, default: shape.measures.map { _ in 0 }][place]
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
    sum = shape.isGreatest[measure] ? max(known, value) : known + value
  }
}
