internal import GRDB
internal import Vocabulary

/// One row of `event`.
struct StoredVersion {
  let event: Event
  let version: Int64
  let isStanding: Bool
  /// The transaction id as text.
  let transaction: String

  /// Whether this row tells of the same event, rather than sharing a fingerprint by chance.
  func isVersion(of other: Event, transaction: String) -> Bool {
    event.identity == other.identity && event.time == other.time && event.kind == other.kind
      && (event.kind != .other || event.name == other.name) && self.transaction == transaction
  }
}

/// Looks up every stored version of an event.
struct StoredVersions {
  private let select: RawStatement
  private let shop: RawStatement
  private let places: RawStatement

  init(_ database: Database) throws {
    select = try RawStatement(
      cachedIn: database,
      """
      select \(EventColumns.names) from event
      where lineage = ? and time = ? and identity = ? order by version
      """)
    shop = try RawStatement(
      cachedIn: database,
      "select provider, app, environment, store from lineage where key = ?")
    places = try RawStatement(
      cachedIn: database,
      """
      select lineage from contested where identity = ?1 and time = ?2
      union select lineage from identity where key = ?1 order by lineage
      """)
  }

  /// Rows with the lineage, time and identity of `event`.
  func inLineage(of event: Event) throws -> [StoredVersion] {
    try rows(lineage: event.lineage, event, shop: LineageShop(of: event))
  }

  /// Rows with the time and identity of `event`, in every lineage that has some.
  func everywhere(_ event: Event) throws -> [StoredVersion] {
    places.bind(1, event.identity)
    places.bind(2, event.time.milliseconds)
    var lineages: [Int64] = []
    try places.forEachRow { lineages.append($0.int64(0)) }
    if !lineages.contains(event.lineage) { lineages.append(event.lineage) }
    return try lineages.flatMap { lineage in
      shop.bind(1, lineage)
      let found = try shop.first { try LineageShop($0, from: 0) }
      return try found.map { try rows(lineage: lineage, event, shop: $0) } ?? []
    }
  }

  private func rows(
    lineage: Int64, _ event: Event, shop: LineageShop
  ) throws -> [StoredVersion] {
    select.bind(1, lineage)
    select.bind(2, event.time.milliseconds)
    select.bind(3, event.identity)
    var versions: [StoredVersion] = []
    try select.forEachRow { row in
      versions.append(
        StoredVersion(
          event: try EventColumns.read(row, of: shop), version: row.int64(3),
          isStanding: row.int64(4) != 0, transaction: try EventColumns.transaction(row)))
    }
    return versions
  }
}
