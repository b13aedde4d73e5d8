// Breaks that matter, what to do first, and restated numbers.
internal import Domain
internal import Reports

struct BreakGroup {
  let title: String
  let items: [PageItem]
}

/// Statuses of breaks that need a person.
let openStatus = ["open", "reopened"]

extension SetContents {
  private static let columns = [
    "break_id", "code", "status", "severity", "provider", "app_id", "store",
    "evidence_expires_at", "missing_events", "estimated_usd", "evidence", "action",
  ]

  /// Feeds whose input has stopped, the ten breaks whose evidence expires first, and the ten others
  /// with the highest value.
  func breaks() throws -> [BreakGroup] {
    var stopped = ShortList<[String]>(count: 10) { $0[0] < $1[0] }
    var urgent = ShortList<[String]>(count: 10) {
      ($0[7], -(micros($0[9]) ?? 0), $0[0]) < ($1[7], -(micros($1[9]) ?? 0), $1[0])
    }
    var great = ShortList<[String]>(count: 10) {
      (-(micros($0[9]) ?? -1), $0[0]) < (-(micros($1[9]) ?? -1), $1[0])
    }
    try set.forEachRow(of: "breaks", Self.columns) { cells in
      guard openStatus.contains(cells[2]) else { return }
      // Texts of equal form sort by time.
      if cells[1] == BreakCode.staleInput.rawValue {
        stopped.add(cells)
      } else if cells[7] > asOf.text {
        urgent.add(cells)
      } else {
        great.add(cells)
      }
    }
    let groups = [
      ("Input has stopped", stopped), ("Evidence expires first", urgent), ("Worth most", great),
    ]
    return groups.compactMap { title, list in
      let items = list.sorted.map(item)
      return items.isEmpty ? nil : BreakGroup(title: title, items: items)
    }
  }

  /// An open break as a list item.
  private func item(_ cells: [String]) -> PageItem {
    var item = [
      "id": cells[0], "code": cells[1], "severity": cells[3],
      "place": place(cells[4], cells[5], cells[6]),
      "missing": numbers.text(micros(cells[8]), .count),
      "evidence": cells[10], "action": cells[11],
      "filter": RowFilter("break_id", cells[0]).attribute(),
    ]
    if !cells[7].isEmpty { item["until"] = minute(cells[7]) }
    if !cells[9].isEmpty { item["worth"] = numbers.text(micros(cells[9]), .usd) }
    return item
  }

  func tasks() throws -> TaskList {
    let columns = [
      "priority", "provider", "app_id", "store", "missing_events", "at_stake_usd", "hours_left",
      "method", "host", "note", "break_ids",
    ]
    var items: [PageItem] = []
    var count = 0
    try set.forEachRow(of: "refetch_worklist", columns) { cells in
      count += 1
      guard count <= 5 else { return }
      let call = cells[8].isEmpty ? cells[9] : "\(cells[7]) \(cells[8])"
      var item = [
        "filter": RowFilter("priority", cells[0]).attribute(),
        "place": place(cells[1], cells[2], cells[3]), "call": call,
        "missing": numbers.text(micros(cells[4]), .count),
        "worth": numbers.text(micros(cells[5]), .usd), "breaks": cells[10],
      ]
      if !cells[6].isEmpty { item["hours"] = numbers.text(micros(cells[6]), .count) }
      items.append(item)
    }
    let all = numbers.text(Int128(count) * 1_000_000, .count)
    return TaskList(items: items, all: count > 5 ? all : nil)
  }

  func restatements() throws -> RestatementList {
    let columns = [
      "report", "period", "key", "column", "published", "restated", "delta", "cause",
    ]
    var count = 0
    // There can be hundreds of thousands of rows, and few columns.
    var units: [[String]: Unit?] = [:]
    var list = ShortList<(cells: [String], unit: Unit?, dollars: UInt128)>(count: 20) {
      $0.dollars == $1.dollars
        ? $0.cells.lexicographicallyPrecedes($1.cells) : $0.dollars > $1.dollars
    }
    try set.forEachRow(of: "restatements", columns) { cells in
      count += 1
      let unit = units[[cells[0], cells[3]]] ?? unit(of: cells[3], in: cells[0])
      units[[cells[0], cells[3]]] = .some(unit)
      list.add((cells, unit, unit == .usd ? micros(cells[6])?.magnitude ?? 0 : 0))
    }
    let rows = list.sorted.map { cells, unit, _ in
      var filter = RowFilter("report", cells[0])
      for place in 1...3 { filter = filter.and(columns[place], cells[place]) }
      return RestatementRow(
        what: "\(cells[0]) \(cells[1]): \(cells[3])", key: cells[2],
        filter: filter.attribute(), unit: unit?.rawValue,
        values: [4, 5, 6].map { place in
          [
            "column": columns[place],
            "text": unit.map { numbers.text(micros(cells[place]), $0) } ?? cells[place],
          ]
        }, cause: cells[7])
    }
    return RestatementList(
      rows: rows, count: numbers.text(Int128(count) * 1_000_000, .count), isEmpty: count == 0)
  }
}

extension SetContents {
  /// The unit of a report's column; nil for texts and amounts in other currencies.
  private func unit(of column: String, in report: String) -> Unit? {
    let columns = set.tables(of: report).first?.columns ?? []
    guard let column = columns.first(where: { $0.name == column }) else { return nil }
    switch column.unit {
    case "USD": return .usd
    case "fraction": return .percent
    default: return column.type == "integer" ? .count : nil
    }
  }
}

/// Provider, app and store in words.
private func place(_ provider: String, _ app: String, _ store: String) -> String {
  let parts = [
    shownName(provider, of: "provider"), app, store.isEmpty ? "" : shownName(store, of: "store"),
  ]
  return parts.filter { !$0.isEmpty }.joined(separator: " · ")
}

struct TaskList {
  let items: [PageItem]
  /// Number of all entries; nil when all are listed.
  let all: String?
}

struct RestatementList {
  let rows: [RestatementRow]
  let count: String
  let isEmpty: Bool
}

struct RestatementRow {
  let what: String
  let key: String
  let filter: String
  /// Nil when the values are not numbers.
  let unit: String?
  let values: [PageItem]
  let cause: String
}

/// The first of many items in an order.
struct ShortList<Item> {
  let count: Int
  let precedes: (Item, Item) -> Bool
  private var items: [Item] = []

  init(count: Int, by precedes: @escaping (Item, Item) -> Bool) {
    (self.count, self.precedes) = (count, precedes)
  }

  var sorted: [Item] { Array(items.sorted(by: precedes).prefix(count)) }

  /// Adds an item; keeps at most ten times `count`.
  mutating func add(_ item: Item) {
    items.append(item)
    if items.count >= count * 10 { items = sorted }
  }
}

func micros(_ cell: String) -> Int128? { CSVRow.micros(of: cell.utf8).map { Int128($0) } }
