import Domain

extension Evidence {
  /// The event and its delivery outcome, as a line of the truth.
  func truth(of index: Int, _ delivery: Delivery) -> JSON {
    let occurrence = customer.occurrences[index]
    let shown = delivery.outcome == .lost ? customer.person.shop.sender.evidence(self, index) : nil
    return identity(index) + shop(occurrence, customer.person) + money(occurrence) + [
      "outcome": delivery.outcome.rawValue, "copies": delivery.arrivals.count,
      "received_ms": delivery.arrivals.map(\.received), "evidence": shown,
      "fault": delivery.isOfAbsentDay ? "absent_day" : occurrence.fault?.rawValue,
      "code": customer.code(of: occurrence)?.rawValue,
    ]
  }

  private func identity(_ index: Int) -> JSON {
    let occurrence = customer.occurrences[index]
    let person = customer.person
    let sender = person.shop.sender
    let provider = sender.isDetailed ? nil : person.shop.provider.name
    let isOther = occurrence.kind == .other
    let isOfOriginal = sender.namesOriginal(customer, occurrence, span)
    return [
      "id": (provider.map { "\($0)-" } ?? "") + "\(person.number)-\(index)",
      "provider": provider,
      "kind": isOther ? sender.nameOfOther(customer, occurrence) : occurrence.kind.name,
      "name": sender.name(customer, occurrence), "user_id": sender.user(customer, index),
      "lineage": person.text(
        isOfOriginal ? occurrence.transaction.original : occurrence.transaction),
      "transaction": person.text(occurrence.transaction), "time": occurrence.time,
    ]
  }

  private func shop(_ occurrence: Occurrence, _ person: Person) -> JSON {
    [
      "environment": person.environment.name, "app": person.shop.appID,
      "store": person.shop.reportedStore.name,
      "product": person.app.storeProducts[occurrence.product],
      "country": person.market.country, "currency": person.market.currency,
    ]
  }

  private func money(_ occurrence: Occurrence) -> JSON {
    let revenue = occurrence.revenue
    let isCharge = occurrence.isSubscriptionCharge || occurrence.kind == .purchased
    return [
      "gross_usd": revenue != nil && isCharge ? JSON.micros(occurrence.price.usd) : nil,
      "value": revenue.map { JSON.micros($0.local) }, "usd": revenue.map { JSON.micros($0.usd) },
      "is_proceed": revenue.map { _ in occurrence.sendsProceeds ? 1 : 0 },
      "ordinal": occurrence.renewCount,
    ]
  }
}

/// What the remaining data can show of a lost event.
///
/// Values: a snapshot's shape, or another provider's name for its own snapshot; `counter` when a
/// later renewal's number skips it; `later_line` when a line that arrived contains its content.
struct Evidence {
  let customer: CustomerSimulation
  let outcomes: [DeliveryOutcome]
  let span: TimeSpan

  func isActiveAtEnd(_ part: OccurrencePart) -> Bool {
    part.subscription == customer.subscriptions.count - 1
      && (customer.subscriptions.last?.state(at: span.end).isActive ?? false)
  }

  func isLastPart(_ part: OccurrencePart) -> Bool {
    guard let newest = customer.subscriptions.last,
      part.subscription == customer.subscriptions.count - 1
    else { return false }
    guard case .period(_, let period) = part else { return newest.periods.isEmpty }
    return period == newest.periods.count - 1
  }

  /// Whether the newest period is still in the state that a message reported.
  func isStateAtEnd(_ occurrence: Occurrence, _ state: RenewState) -> Bool {
    isLastPart(occurrence.part) && customer.subscriptions.last?.state(at: span.end).state == state
  }

  func isWholeRefund(_ occurrence: Occurrence) -> Bool {
    customer.period(of: occurrence)?.charge.wholeRefundAt != nil
  }

  /// Whether a part has an end of its own, which implies that auto-renew was off.
  func hasEnd(_ part: OccurrencePart) -> Bool {
    customer.occurrences.contains {
      $0.part == part && [.expired, .trialExpired, .endedInvoluntarily].contains($0.kind)
    }
  }
}
