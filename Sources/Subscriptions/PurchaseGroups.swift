import Domain

extension [Event] {
  /// The events at `places` grouped by purchase, as positions: events that share a lineage,
  /// product or group in one store, or that a product change links.
  ///
  /// `places` must ascend. Each group keeps the order; groups are ordered by their first events.
  func purchaseGroups(of places: [Int]) -> [[Int]] {
    var sets = DisjointSets(count: count)
    var firsts: [PurchaseTie: Int] = [:]
    for place in places {
      for tie in self[place].ties {
        if let first = firsts[tie] { sets.join(first, place) } else { firsts[tie] = place }
      }
    }
    return Dictionary(grouping: places) { sets.root(of: $0) }.values.sorted { $0[0] < $1[0] }
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
