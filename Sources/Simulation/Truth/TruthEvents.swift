import Domain

extension Evidence {
  /// The event and its delivery outcome, as a line of the truth.
  func truth(_ delivery: Delivery) -> JSON {
    let shown = delivery.outcome == .lost ? customer.person.shop.sender.evidence(self) : nil
    return identity + shop + money + [
      "outcome": delivery.outcome.rawValue, "copies": delivery.arrivals.count,
      "received_ms": delivery.arrivals.map(\.received), "evidence": shown,
      "fault": delivery.isOfAbsentDay ? "absent_day" : occurrence.fault?.rawValue,
      "code": customer.code(of: occurrence)?.rawValue,
    ]
  }

  private var identity: JSON {
    let person = customer.person
    let sender = person.shop.sender
    let provider = sender.isDetailed ? nil : person.shop.provider.name
    let isOther = occurrence.kind == .other
    let isOfOriginal = sender.namesOriginal(event)
    return [
      "id": (provider.map { "\($0)-" } ?? "") + "\(person.number)-\(event.index)",
      "provider": provider,
      "kind": isOther ? sender.nameOfOther(event) : occurrence.kind.name,
      "name": sender.name(event), "user_id": sender.user(event),
      "lineage": person.text(
        isOfOriginal ? occurrence.transaction.original : occurrence.transaction),
      "transaction": person.text(occurrence.transaction), "time": occurrence.time,
    ]
  }

  private var shop: JSON {
    let person = customer.person
    return [
      "environment": person.environment.name, "app": person.shop.appID,
      "store": person.shop.reportedStore.name,
      "product": person.app.storeID(of: occurrence.product),
      "country": person.market.country, "currency": person.market.currency,
    ]
  }

  private var money: JSON {
    let revenue = occurrence.revenue
    let isCharge = occurrence.isSubscriptionCharge || occurrence.kind == .purchased
    return [
      "gross_usd": revenue != nil && isCharge ? JSON.micros(occurrence.charge.gross.usd) : nil,
      "value": revenue.map { JSON.micros($0.local) }, "usd": revenue.map { JSON.micros($0.usd) },
      "is_proceed": revenue.map { _ in occurrence.charge.sendsProceeds ? 1 : 0 },
      "ordinal": occurrence.renewCount,
    ]
  }
}

/// What the remaining data can show of a lost event.
///
/// Values: a snapshot's shape, or another provider's name for its own snapshot; `counter` when a
/// later renewal's number skips it; `later_line` when a line that arrived contains its content.
struct Evidence {
  let event: SentEvent
  let outcomes: [DeliveryOutcome]

  var customer: CustomerSimulation { event.customer }
  var occurrence: Occurrence { event.occurrence }

  /// The evidence in the provider's own snapshot and in later lines that have the event's content.
  func found(inSnapshot: Bool, inLine hasIt: (Occurrence) -> Bool = { _ in false }) -> [String] {
    let later = zip(customer.occurrences, outcomes).dropFirst(event.index + 1)
    let isInLine = later.contains { $1 != .lost && hasIt($0) }
    return (inSnapshot ? [customer.person.shop.provider.name] : [])
      + (isInLine ? ["later_line"] : [])
  }

  private var isOfNewest: Bool {
    occurrence.part.subscription == customer.subscriptions.count - 1
  }

  /// Whether its subscription is the newest, and active at the end.
  var isActiveAtEnd: Bool {
    isOfNewest && customer.subscriptions.last?.state(at: customer.span.end).isActive ?? false
  }

  /// Whether it is of the newest period.
  var isOfLastPart: Bool {
    guard isOfNewest, let newest = customer.subscriptions.last else { return false }
    guard case .period(_, let period) = occurrence.part else { return newest.periods.isEmpty }
    return period == newest.periods.count - 1
  }

  /// Whether the newest period is still in the state that the event reported.
  func isStateAtEnd(_ state: RenewState) -> Bool {
    isOfLastPart && customer.subscriptions.last?.state(at: customer.span.end).state == state
  }

  var isWholeRefund: Bool { customer.period(of: occurrence)?.charge.wholeRefundAt != nil }

  /// Whether its period has an end of its own, which implies that auto-renew was off.
  var hasEnd: Bool {
    customer.occurrences.contains {
      $0.part == occurrence.part
        && [.expired, .trialExpired, .endedInvoluntarily].contains($0.kind)
    }
  }
}
