import Domain
import Formats

/// Finds in the `entitlements` of a body until when they grant its product.
struct QonversionGrants {
  private var grant = Members<EntitlementField>()

  /// The end of the entitlement that the product change `draft` granted, if it can be identified.
  ///
  /// Manual grants and those of another store are not part of its paid period. Among the others,
  /// active ones come first, then those of the product, although entitlements often name it
  /// differently, then those of the same store; the latest end among the best counts. They only
  /// help to find a period's end, so malformed ones are ignored.
  mutating func end(
    among list: JSONNode, for draft: EventDraft, _ tape: JSONTape
  ) -> Instant? {
    var best: (fitness: Int, end: Instant)?
    let isObject = tape.kind(list) == .object
    for node in tape.children(of: list) {
      grant.read(isObject ? tape.value(ofKey: node) : node, of: tape)
      let source = source(tape)
      guard !(source == "manual"), (Store(source) ?? .unknown).mayBe(draft.event.store),
        let end = try? tape.instant(grant[.expiresAt])
      else { continue }
      let found = (fitness: fitness(source: source, for: draft, tape), end: end)
      best = best.map { $0 < found ? found : $0 } ?? found
    }
    return best?.end
  }

  /// Whether an entitlement grants access that the event does not report: beyond the end of its
  /// period, without end, or from so early that its first periods were longer.
  ///
  /// Nearly all bodies only repeat their event, so this reads as little as possible.
  mutating func showMore(
    _ list: JSONNode, than event: Event, _ tape: JSONTape
  ) -> Bool {
    let reported = [event.periodEnd, event.graceEnd, event.entitledUntil].compactMap { $0 }.max()
    let known = max(reported ?? event.time, event.created ?? event.time) + .seconds(60)
    // A reported one-time purchase has no end, and neither has its entitlement.
    let isOwn = event.kind == .purchased && tape.count(list) == 1
    let earliest = event.earliestStart
    let isObject = tape.kind(list) == .object
    for node in tape.children(of: list) {
      grant.read(isObject ? tape.value(ofKey: node) : node, of: tape)
      guard (try? tape.truth(grant[.isActive])) != false else { continue }
      if let earliest, let started = try? tape.instant(grant[.startedAt]), started < earliest {
        return true
      }
      let end = grant.value(.expiresAt) == nil ? nil : try? tape.instant(grant[.expiresAt])
      guard end.map({ $0 > known }) ?? !(isOwn && isSince(event.time, tape)) else { continue }
      if !(source(tape) == "manual") { return true }
    }
    return false
  }

  /// Whether the entitlement began with a purchase at `time`, as far as it shows.
  private func isSince(_ time: Instant, _ tape: JSONTape) -> Bool {
    guard let started = try? tape.instant(grant[.startedAt]) else { return true }
    return started + .days(1) >= time
  }

  private func source(_ tape: JSONTape) -> Term {
    (try? tape.term(grant[.source])) ?? Term(bytes: .none)
  }

  private func fitness(source: Term, for draft: EventDraft, _ tape: JSONTape) -> Int {
    let isActive = try? tape.truth(grant[.isActive])
    let product = grant.value(.product).flatMap { sent in
      tape.kind(sent) == .object ? tape.member(sent, "product_id") : nil
    }
    let isOfProduct = product.map { tape.bytes($0).isEqual(to: draft.product) } ?? false
    let store = Store(source)
    return (isActive == true ? 4 : 0) + (isOfProduct ? 2 : 0)
      + (store != nil && store == draft.event.store ? 1 : 0)
  }
}

extension Event {
  /// The latest possible start of the subscription if none of its periods was longer than this one,
  /// including a trial and a grace period; nil except for its first twelve renewals.
  var earliestStart: Instant? {
    guard let count = renewalCount, (1...12).contains(count), let start = periodStart,
      let end = periodEnd, start < end, end.since(start) < .days(400)
    else { return nil }
    let length = end.since(start).milliseconds
    return start - .days(31) - Interval(milliseconds: length * (Int64(count) + 1))
  }
}
