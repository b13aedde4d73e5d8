/// A unit to fold again: a fold group, or groups that report the same store transactions.
public struct FoldUnit: Sendable {
  private var groups: Set<FoldGroup> = []
  /// Subscriptions that are, or were, part of it, besides the current ones of the groups' users.
  private var lineages: Set<Int64> = []
  /// The roots of its links; empty for a single group.
  private var roots: Set<Int64> = []

  /// A dirty subscription with a group that it is or was part of, and its root if it is linked.
  public struct Part: Sendable {
    let group: FoldGroup
    let lineage: Int64
    let root: Int64?
  }

  /// Combines groups that share subscriptions into one unit if one of them is linked.
  public static func units(of parts: [Part]) -> [FoldUnit] {
    var units: [FoldUnit] = []
    var places: [FoldGroup: Int] = [:]
    for part in parts {
      let place = places[part.group] ?? units.count
      if place == units.count { units.append(FoldUnit()) }
      places[part.group] = place
      units[place].add(part)
    }
    guard parts.contains(where: { $0.root != nil }) else { return units }
    var merged: [FoldUnit] = []
    var byLineage: [Int64: Int] = [:]
    var byRoot: [Int64: Int] = [:]
    for unit in units {
      let known = unit.lineages.compactMap { byLineage[$0] } + unit.roots.compactMap { byRoot[$0] }
      let places = Set(known).sorted()
      let place = places.first ?? merged.count
      if places.isEmpty { merged.append(FoldUnit()) }
      for other in [unit] + places.dropFirst().map({ merged[$0] }) { merged[place].add(other) }
      for other in places.dropFirst() { merged[other] = FoldUnit() }
      for lineage in merged[place].lineages { byLineage[lineage] = place }
      for root in merged[place].roots { byRoot[root] = place }
    }
    return merged.filter { !$0.groups.isEmpty }
  }

  private mutating func add(_ part: Part) {
    groups.insert(part.group)
    lineages.insert(part.lineage)
    if let root = part.root { roots.insert(root) }
  }

  private mutating func add(_ other: FoldUnit) {
    groups.formUnion(other.groups)
    lineages.formUnion(other.lineages)
    roots.formUnion(other.roots)
  }

  /// Whether subscriptions of `group` belong to it; of linked groups, all that are read do.
  func contains(_ group: FoldGroup) -> Bool { !roots.isEmpty || groups.contains(group) }

  func members(in ledger: Ledger, _ database: Connection) throws -> [Int64] {
    var members = lineages
    for group in groups { members.formUnion(try ledger.lineages(in: group).map(\.key)) }
    for root in roots {
      try database.forEachRow("select lineage from lineage_link where root = ?", root) {
        members.insert($0.int64(0))
      }
    }
    return members.sorted()
  }
}
