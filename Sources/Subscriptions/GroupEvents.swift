import Domain

/// The events of one subscription among those of its fold group, in business order.
///
/// The group holds them once: a user can have hundreds of thousands of purchases.
struct GroupEvents: RandomAccessCollection, Sendable {
  private let group: [Event]
  /// Places in the group, ascending; nil for all of it.
  private let places: [Int]?

  init(_ group: [Event]) { (self.group, places) = (group, nil) }

  init(_ group: [Event], at places: [Int]) {
    (self.group, self.places) = (group, places.count < group.count ? places : nil)
  }

  var startIndex: Int { 0 }
  var endIndex: Int { places?.count ?? group.count }
  subscript(index: Int) -> Event { group[places?[index] ?? index] }

  var array: [Event] { places.map { $0.map { group[$0] } } ?? group }
  var placesInGroup: [Int] { places ?? Array(group.indices) }
}
