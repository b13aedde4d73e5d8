import Domain

/// The deliveries of a user's whole collection of purchases, and the content of each.
///
/// iaptic sends the last purchase of every product. A purchase that a later delivery lacks has
/// vanished, unless another purchase of its product replaced it.
///
/// The vanished purchase may have been the only one with a date in a body, so such bodies are
/// ordered by when they were received.
struct Collections {
  private struct Delivery {
    /// The latest time among its events.
    let time: Instant
    let seen: Instant
    /// Its first event, from which an event can be derived.
    let event: Event
  }

  private let deliveries: [Delivery]
  /// The last delivery that contains each purchase of a product; in an upgrade, both products may
  /// have one lineage, and one of them stays.
  private var last: [OfLineage<StringID>: Int] = [:]
  /// The deliveries that contain each product, in order: a user can have tens of thousands.
  private var holding: [PurchaseTie: [Int]] = [:]

  init(_ events: [Event]) {
    let single = events.lazy.filter { $0.collection != 0 }
      .map { ($0.collection, Delivery(time: $0.time, seen: $0.seenAt, event: $0)) }
    let byKey = Dictionary(single) { first, next in
      Delivery(
        time: max(first.time, next.time), seen: max(first.seen, next.seen), event: first.event)
    }
    deliveries = byKey.values.sorted {
      ($0.seen, $0.event.identity) < ($1.seen, $1.event.identity)
    }
    var places: [Int64: Int] = [:]
    for (place, delivery) in deliveries.enumerated() { places[delivery.event.collection] = place }
    // Messages about other transactions have no state: the collection can lack their purchase.
    for event in events where event.observation != nil {
      guard let place = places[event.collection] else { continue }
      let held = OfLineage(event, event.product)
      last[held] = max(place, last[held] ?? place)
      holding[.product(event.store, event.product), default: []].append(place)
    }
    holding = holding.mapValues { Set($0).sorted() }
  }

  /// An event of the first delivery that lacks, for good, the purchase that `opening` opened; nil
  /// if there is none.
  ///
  /// It has the delivery's time or, if that is not after the purchase was last seen, the time when
  /// the delivery was seen.
  func disappearance(of opening: Event) -> Event? {
    guard let last = last[OfLineage(opening, opening.product)] else { return nil }
    let held = deliveries[last].seen
    let later = (last + 1..<deliveries.count).partitioningIndex { deliveries[$0].seen > held }
    let holders = holding[.product(opening.store, opening.product)] ?? []
    let next = holders.indices.partitioningIndex { holders[$0] >= later }
    // Holders are consecutive as long as their distance from `later` equals that from `next`.
    let run = (next..<holders.count).partitioningIndex { holders[$0] - later > $0 - next } - next
    guard later + run < deliveries.count else { return nil }
    let lacking = deliveries[later + run]
    var event = lacking.event
    event.time = lacking.time > held ? lacking.time : lacking.seen
    return event
  }
}

extension Event {
  /// Whether the event only shows that an empty collection arrived.
  var isCollectionAlone: Bool { kind == .observed && observation == nil }

  var isShared: Bool { observation?.isShared == true }
}
