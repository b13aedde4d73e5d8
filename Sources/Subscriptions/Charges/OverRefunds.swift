import Domain

extension BookingPass {
  /// Holds back what refunds give beyond their charge; of several refunds of a charge, those
  /// created first are booked first.
  ///
  /// If another provider reports a full refund, it gives back at most the charge: the prices of the
  /// two providers differ, and `overlap.csv` shows by how much.
  mutating func limitRefunds() throws(AmountOverflow) {
    var refunds: [Int: [Int]] = [:]
    for index in bookings.indices {
      guard let charge = bookings[index].refundedCharge else { continue }
      refunds[charge, default: []].append(index)
    }
    var removed: Set<Int> = []
    for (charge, indices) in refunds.sorted(by: { $0.key < $1.key }) {
      let (charged, whole) = (events[bookings[charge].event], bookings[charge].money)
      guard charged.namesOneCharge else { continue }
      var limit = RefundLimit(charge: whole, charged: charged, left: whole)
      let ordered = indices.sorted {
        events[bookings[$0].event].isCreated(before: events[bookings[$1].event])
      }
      for index in ordered {
        let (refund, event) = (bookings[index].money, events[bookings[index].event])
        var part = try limit.part(of: refund, event)
        if part != refund, event.provider == charged.provider || part != whole {
          var excess = refund.grossUSD
          if let all = excess, let booked = part?.grossUSD { excess = try all.subtracting(booked) }
          let isHeld = rules.doubleCharges == .hold
          find(event, beyond: charged, excess, isHeld: isHeld)
          if !isHeld { part = refund }
        }
        guard let part else {
          removed.insert(index)
          continue
        }
        bookings[index].money = part
        if part != refund, part == whole { bookings[index].isWhole = true }
        try limit.take(part)
      }
    }
    if !removed.isEmpty { remove(removed) }
  }

  /// Raises `OVER_REFUND` for the part of a refund that exceeds its charge.
  mutating func find(_ event: Event, beyond charged: Event, _ excess: Amount?, isHeld: Bool) {
    if isHeld { held.append(HeldEvent(event: event, reason: .overRefund, booked: charged)) }
    findings.append(
      FoldFinding(
        .overRefund, event, difference: excess,
        "\(event.kindAndTime) gives back more than is left of \(charged.kindAndTime)"
          + (isHeld ? "; what exceeds it is held out of the sums" : "; it is booked whole")))
  }

  /// Removes bookings of refunds; no other booking refers to them.
  private mutating func remove(_ removed: Set<Int>) {
    let kept = bookings.indices.filter { !removed.contains($0) }
    let moved = Dictionary(uniqueKeysWithValues: zip(kept, 0...))
    bookings = kept.map { index in
      var booking = bookings[index]
      booking.refundedCharge = booking.refundedCharge.flatMap { moved[$0] }
      return booking
    }
  }
}

/// How much of one charge can still be refunded.
private struct RefundLimit {
  let charge: Money
  let charged: Event
  /// The rest of each amount; nil once it is unknown.
  var left: Money

  /// The part of a refund that the rest covers; all if amounts are unknown, nil if nothing is left.
  func part(of all: Money, _ event: Event) throws(AmountOverflow) -> Money? {
    let (given, paid) = (event.revenue ?? Revenue(), charged.revenue ?? Revenue())
    let isForeign = areDifferentCurrencies(given.currency, paid.currency)
    let (whole, asked, rest) =
      if !isForeign, let whole = charge.grossLocal, let asked = all.grossLocal,
        let rest = left.grossLocal
      {
        (whole, asked, rest)
      } else if let whole = charge.grossUSD, let asked = all.grossUSD, let rest = left.grossUSD {
        (whole, asked, rest)
      } else {
        (Amount.zero, Amount.zero, Amount.zero)
      }
    let tolerance = try tolerance(of: whole, event, isForeign: isForeign)
    guard try asked.subtracting(rest) > tolerance else { return all }
    guard rest > tolerance else { return nil }
    if left == charge { return charge }
    var part = all
    part.grossUSD = all.grossUSD == nil ? nil : left.grossUSD
    part.proceedsUSD = all.proceedsUSD == nil ? nil : left.proceedsUSD
    part.grossLocal = all.grossLocal == nil ? nil : left.grossLocal
    part.proceedsLocal = all.proceedsLocal == nil ? nil : left.proceedsLocal
    return part
  }

  /// Subtracts a refund from the rest.
  mutating func take(_ money: Money) throws(AmountOverflow) {
    left.grossUSD = try difference(left.grossUSD, money.grossUSD)
    left.proceedsUSD = try difference(left.proceedsUSD, money.proceedsUSD)
    left.grossLocal = try difference(left.grossLocal, money.grossLocal)
    left.proceedsLocal = try difference(left.proceedsLocal, money.proceedsLocal)
  }

  /// Zero between amounts as sent; else the rounding of a price derived from proceeds, or the
  /// movement of an exchange rate.
  private func tolerance(
    of whole: Amount, _ event: Event, isForeign: Bool
  ) throws(AmountOverflow) -> Amount {
    if isForeign { return try whole.scaled(by: 5, over: 100) }
    let isDerived = event.revenue?.isProceed == true || charged.revenue?.isProceed == true
    return isDerived ? try rounding(of: whole) : .zero
  }

  private func difference(_ rest: Amount?, _ given: Amount?) throws(AmountOverflow) -> Amount? {
    guard let rest, let given else { return nil }
    return Swift.max(.zero, try rest.subtracting(given))
  }
}
