import Vocabulary

/// The deliveries of a user's whole collection of purchases, and what each of them held.
///
/// iaptic sends the last purchase of every product. What an earlier delivery had and a later one
/// lacks has vanished, unless another purchase of its product took its place.
struct Collections {
  private struct Delivery {
    /// When it was true: the latest time among its events.
    var time: Instant
    /// Its first event, on which a derived event can rest.
    var event: Event
    var lineages: Set<Int64> = []
    var products: Set<Symbol> = []

    mutating func add(_ told: Event) {
      time = max(time, told.time)
      if told.isCollectionAlone { return }
      lineages.insert(told.lineage)
      products.insert(told.product)
    }
  }

  /// By time.
  private let deliveries: [Delivery]

  /// The collections of which `events`, in business order, are told.
  init(_ events: [Event]) {
    var byKey: [Int64: Delivery] = [:]
    for event in events where event.collection != 0 {
      // In place: a delivery can name tens of thousands of purchases.
      byKey[event.collection, default: Delivery(time: event.time, event: event)].add(event)
    }
    deliveries = byKey.values.sorted {
      ($0.time, $0.event.identity) < ($1.time, $1.event.identity)
    }
  }

  /// The first delivery that lacks `lineage` and its product for good, when one came before it:
  /// an event of it, at its time.
  func disappearance(of lineage: Int64, product: Symbol) -> Event? {
    guard let last = deliveries.lastIndex(where: { $0.lineages.contains(lineage) }) else {
      return nil
    }
    let later = deliveries[(last + 1)...].first {
      $0.time > deliveries[last].time && !$0.products.contains(product)
    }
    return later.map { delivery in
      var event = delivery.event
      event.time = delivery.time
      return event
    }
  }
}

extension Event {
  /// Whether the event only says that a collection came, and held nothing.
  var isCollectionAlone: Bool { kind == .observed && observation == nil }

  /// Whether a family member shares the purchase.
  var isShared: Bool { observation?.isShared == true }
}
