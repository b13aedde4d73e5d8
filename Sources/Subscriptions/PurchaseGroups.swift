import Domain

extension [Event] {
  /// The events at `places` grouped by purchase, as positions: events that share a lineage,
  /// product or group in one store, or that a product change links.
  ///
  /// `places` must ascend. Each group keeps the order; groups are ordered by their first events.
  ///
  /// - Parameter gap: how far the start of a purchase may be from the end of the one it replaces.
  func purchaseGroups(of places: [Int], gap: Interval) -> [[Int]] {
    var sets = DisjointSets(count: count)
    var firsts: [PurchaseTie: Int] = [:]
    for place in places {
      for tie in self[place].ties {
        if let first = firsts[tie] { sets.join(first, place) } else { firsts[tie] = place }
      }
    }
    for (place, next) in replacements(at: places, firsts, gap) { sets.join(place, next) }
    return Dictionary(grouping: places) { sets.root(of: $0) }.values.sorted { $0[0] < $1[0] }
  }

  /// The first report that another product replaced a lineage, and the opening of the lineage that
  /// began closest to that moment, as Play's new order does.
  private func replacements(
    at places: [Int], _ firsts: [PurchaseTie: Int], _ gap: Interval
  ) -> [(place: Int, next: Int)] {
    var known: Set<Int64> = []
    let ends = places.filter {
      self[$0].observation?.isReplaced == true && known.insert(self[$0].lineage).inserted
    }
    guard !ends.isEmpty else { return [] }
    let starts = firsts.compactMap { tie, place -> (at: Instant, place: Int)? in
      guard case .lineage = tie else { return nil }
      return (self[place].observation?.lastChargedAt ?? self[place].time, place)
    }.sorted { $0 < $1 }
    return ends.compactMap { place in
      let replaced = self[place]
      let end = Swift.min(replaced.time, replaced.periodEnd ?? replaced.time)
      func mayFollow(_ start: (at: Instant, place: Int)) -> Bool {
        self[start.place].store == replaced.store && self[start.place].lineage != replaced.lineage
      }
      let middle = starts.indices.partitioningIndex { starts[$0].at >= end }
      let near = [
        starts[..<middle].last(where: mayFollow), starts[middle...].first(where: mayFollow),
      ].compactMap(\.self).filter { $0.at.isWithin(gap, of: end) }
      let next = near.min {
        abs($0.at.since(end).milliseconds) < abs($1.at.since(end).milliseconds)
      }
      return next.map { (place, $0.place) }
    }
  }
}

/// What links two events to one purchase group.
enum PurchaseTie: Hashable {
  case lineage(Store, Int64)
  case product(Store, StringID)
  case group(Store, StringID)
}

extension Event {
  var products: [StringID] { [product, previousProduct].filter { $0 != 0 } }

  var ties: [PurchaseTie] {
    var ties: [PurchaseTie] = [.lineage(store, lineage)]
    for product in products { ties.append(.product(store, product)) }
    if let group = observation?.group, group != 0 { ties.append(.group(store, group)) }
    return ties
  }
}

/// Disjoint sets of numbers that are joined pair by pair.
public struct DisjointSets {
  private var parents: [Int]

  /// The numbers from 0 up to but not including `count`, each in its own set.
  public init(count: Int) { parents = Array(0..<count) }

  /// The lowest number in the set of `index`.
  public mutating func root(of index: Int) -> Int {
    var index = index
    while parents[index] != index {
      parents[index] = parents[parents[index]]
      index = parents[index]
    }
    return index
  }

  /// Joins the sets of two numbers.
  public mutating func join(_ left: Int, _ right: Int) {
    let (first, second) = (root(of: left), root(of: right))
    parents[max(first, second)] = min(first, second)
  }
}
