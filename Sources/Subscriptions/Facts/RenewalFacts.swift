public import Domain

extension SubscriptionHistory {
  /// The ordinal of every charge that is a renewal, at the index of its booking.
  ///
  /// It is the provider's counter if the event has one, else the previous ordinal + 1; nil if the
  /// start was not seen and no counter arrived. Wider than the counter, so that 1 can always be
  /// added.
  var renewalOrdinals: [Int64?] {
    var ordinals = [Int64?](repeating: nil, count: bookings.count)
    countRenewals { index, counter, _ in
      if bookings[index].chargeKind == .renewal { ordinals[index] = counter.count }
    }
    return ordinals
  }

  /// Whether a number is missing between the counters of two charges, or of the last and an event.
  var hasCounterJump: Bool {
    var jumps = false
    var last: Int64?
    countRenewals { _, counter, jump in
      jumps = jumps || jump != nil
      last = counter.count
    }
    guard !jumps, let last, let reported = reportedCount else { return jumps }
    return Int64(reported.count) > last
  }

  private func countRenewals(
    _ report: (_ booking: Int, _ counter: RenewalCounter, _ jump: CounterJump?) -> Void
  ) {
    var counter = RenewalCounter(isStartSeen: stretches.first?.opening == .new)
    for index in bookings.indices where bookings[index].isOfSubscription {
      let jump = counter.take(
        bookings[index].chargeKind, counter: events[bookings[index].event].renewalCount)
      report(index, counter, jump)
    }
  }

  /// Books renewals by the month of their charge; one counts as refunded once, at its first refund.
  func bookRenewals(into books: inout Books) throws(AmountOverflow) {
    guard bookings.contains(where: { $0.chargeKind == .renewal }) else { return }
    let ordinals = renewalOrdinals
    var refunded: Set<Int> = []
    for index in bookings.indices where bookings[index].chargeKind == .renewal {
      var (charge, sums) = (index, RenewalSums())
      if bookings[index].isRefund {
        guard let renewal = bookings[index].refundedCharge, refunded.insert(renewal).inserted
        else { continue }
        charge = renewal
        sums.refunded = 1
      } else {
        sums.renewals = 1
      }
      let key = RenewalKey(
        month: month(bookings[index].time), productKey: productKey(ofBooking: index),
        ordinal: ordinals[charge])
      let source = ContributionOrigin(.booking(index), at: bookings[index].time)
      try books.add(.renewal(key, sums), from: source)
    }
  }
}

/// Counts the renewals of one subscription charge by charge: by the provider's counter if a charge
/// has one, else from the previous renewal.
///
/// The counter starts at the second payment, as documented; whether product changes and new starts
/// count is undocumented. Such a charge without a counter can add one.
public struct RenewalCounter: Sendable {
  /// The value of the counter; nil while unknown.
  public private(set) var count: Int64?
  /// The index of the last charge with a counter; nil if there is none.
  private var reported: Int?
  private var changes: Int64 = 0
  private var taken = 0
  private let isStartSeen: Bool
  private var isStartNext: Bool { isStartSeen && taken == 0 }

  /// - Parameters:
  ///   - count: the value before the first charge; nil if unknown.
  ///   - isStartSeen: whether the first charge is the first payment, which does not count.
  public init(after count: Int64? = nil, isStartSeen: Bool) {
    self.count = isStartSeen ? 0 : count
    self.isStartSeen = isStartSeen
  }

  /// Reads the next charge of the subscription; returns the jump of the counter before it, if any.
  ///
  /// - Parameter counter: the counter in the charge; nil if absent.
  public mutating func take(_ kind: ChargeKind, counter: Int32?) -> CounterJump? {
    defer { taken += 1 }
    // A smaller counter in a charge that is not a renewal counts something else.
    let counter = counter.map(Int64.init).flatMap { value in
      kind == .renewal || value >= count ?? 1 ? value : nil
    }
    guard let counter else {
      if isStartNext { reported = taken }
      if kind == .renewal { count = count.map { $0 + 1 } }
      if kind != .renewal, !isStartNext { changes += 1 }
      return nil
    }
    let jump = count.map {
      CounterJump(from: $0, to: counter, changes: changes, previous: reported)
    }
    (count, reported, changes) = (counter, taken, 0)
    guard let jump, !isStartNext, jump.between > 0 else { return nil }
    return jump
  }
}

/// The counters of two charges between which other charges must be missing.
public struct CounterJump: Sendable, Equatable {
  /// The counter before.
  public var from: Int64
  /// The counter in the charge.
  public var to: Int64
  /// Product changes and new starts in between without a counter, each of which can add one.
  public var changes: Int64
  /// The index of the charge that reported `from`; nil if there is none.
  public var previous: Int?

  /// How many numbers are missing.
  public var between: Int64 { to - from - 1 }
}
