import Domain

extension [Event] {
  /// The events without what earlier copies of a message say of the same: a message that is sent
  /// again may be dated anew, and shows purchases as they stand by then.
  ///
  /// Its copies tell one thing, whatever each of them says that it was; the one received last
  /// speaks.
  var withLastOfEachMessage: [Event] {
    var last: [MessagePart: Event] = [:]
    for event in self where event.collection != 0 {
      let part = MessagePart(event)
      if let other = last[part], !other.isEarlierCopy(than: event) { continue }
      last[part] = event
    }
    if last.isEmpty { return self }
    return filter { event in
      guard event.collection != 0, let spoken = last[MessagePart(event)] else { return true }
      return spoken.identity == event.identity && spoken.time == event.time
    }
  }

  /// The events, of which those that tell a charge or a refund of a transaction again, in another
  /// message and the same state, only show that state.
  var withChargesToldOnce: [Event] {
    guard contains(where: { $0.collection != 0 }) else { return self }
    var told: Set<ToldCharge> = []
    return map { event in
      guard let charge = ToldCharge(event), !told.insert(charge).inserted else { return event }
      var shown = event
      shown.kind = .observed
      return shown
    }
  }
}

/// What a message of iaptic tells, or shows of one purchase.
private struct MessagePart: Hashable {
  let message: Int64
  /// All 0 for what is told.
  private var lineage: Int64 = 0
  private var transaction: Int64 = 0
  private var product: StringID = 0

  init(_ event: Event) {
    message = event.collection
    guard event.kind == .observed else { return }
    (lineage, transaction, product) = (event.lineage, event.transaction, event.product)
  }
}

/// A charge or a refund of a transaction as iaptic tells it, whenever and in whatever message.
private struct ToldCharge: Hashable {
  let transaction: Int64
  let kind: EventKind
  let product: StringID
  let periodEnd: Instant?
  let revenue: Revenue?
  let state: Observation?

  /// Nil for what is neither, or names no transaction.
  init?(_ event: Event) {
    guard event.collection != 0, event.transaction != 0,
      event.kind.isRefund || event.chargeKind != nil
    else { return nil }
    transaction = event.transaction
    kind = event.kind
    product = event.product
    periodEnd = event.periodEnd
    revenue = event.revenue
    state = event.observation
  }
}

extension Event {
  func isEarlierCopy(than other: Event) -> Bool {
    let never = Instant(milliseconds: .min)
    return (received ?? never, time, body, identity)
      < (other.received ?? never, other.time, other.body, other.identity)
  }
}
