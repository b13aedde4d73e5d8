import Domain

extension [Event] {
  /// The events at some places in threads, as places: what shares a lineage, a product or a group
  /// in one store, or is tied together by a change from one product to another.
  ///
  /// Places ascend.
  /// Each thread keeps the order; threads come in that of their first events.
  func threads(of places: [Int]) -> [[Int]] {
    var sets = JoinedSets(count: count)
    var firsts: [ThreadTie: Int] = [:]
    for place in places {
      for tie in self[place].ties {
        if let first = firsts[tie] { sets.join(first, place) } else { firsts[tie] = place }
      }
    }
    return Dictionary(grouping: places) { sets.root(of: $0) }.values.sorted { $0[0] < $1[0] }
  }
}

/// What two events have in common when they belong together.
enum ThreadTie: Hashable {
  case lineage(Store, Int64)
  case product(Store, StringID)
  case group(Store, StringID)
}

extension Event {
  var products: [StringID] { [product, previousProduct].filter { $0 != 0 } }

  var ties: [ThreadTie] {
    var ties: [ThreadTie] = [.lineage(store, lineage)]
    for product in products { ties.append(.product(store, product)) }
    if let group = observation?.group, group != 0 { ties.append(.group(store, group)) }
    return ties
  }
}

/// Numbers that are joined to sets one pair at a time.
public struct JoinedSets {
  private var parents: [Int]

  /// The numbers from 0 to below `count`, each alone.
  public init(count: Int) { parents = Array(0..<count) }

  /// The least number of the set in which `index` is.
  public mutating func root(of index: Int) -> Int {
    var index = index
    while parents[index] != index {
      parents[index] = parents[parents[index]]
      index = parents[index]
    }
    return index
  }

  /// Makes one set of the sets of two numbers.
  public mutating func join(_ left: Int, _ right: Int) {
    let (first, second) = (root(of: left), root(of: right))
    parents[max(first, second)] = min(first, second)
  }
}
