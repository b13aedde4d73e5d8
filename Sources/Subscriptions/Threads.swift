import Domain

extension [Event] {
  /// The events in threads: what shares a lineage, a product or a group in one store, or is tied
  /// together by a change from one product to another.
  ///
  /// Each thread keeps the order; threads come in that of their first events.
  var threads: [[Event]] {
    var sets = JoinedSets(count: count)
    var firsts: [ThreadTie: Int] = [:]
    for (index, event) in enumerated() {
      for tie in event.ties {
        if let first = firsts[tie] { sets.join(first, index) } else { firsts[tie] = index }
      }
    }
    var places: [Int: Int] = [:]
    var threads: [[Event]] = []
    for (index, event) in enumerated() {
      let root = sets.root(of: index)
      if let place = places[root] {
        threads[place].append(event)
      } else {
        places[root] = threads.count
        threads.append([event])
      }
    }
    return threads
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
private struct JoinedSets {
  private var parents: [Int]

  init(count: Int) { parents = Array(0..<count) }

  mutating func root(of index: Int) -> Int {
    var index = index
    while parents[index] != index {
      parents[index] = parents[parents[index]]
      index = parents[index]
    }
    return index
  }

  /// The smaller root stays.
  mutating func join(_ left: Int, _ right: Int) {
    let (first, second) = (root(of: left), root(of: right))
    parents[max(first, second)] = min(first, second)
  }
}
