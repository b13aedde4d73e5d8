public import Domain

/// The renewals of one subscription, counted charge by charge: by the provider's counter where a
/// charge carries it, else on from the renewal before.
///
/// The counter starts at the second payment, as documented; whether a change of product or a new
/// start counts is undocumented. Such a charge without a counter can add one.
public struct RenewalCounter: Sendable {
  /// The value of the counter; nil while unknown.
  public private(set) var count: Int64?
  /// The index of the last charge that reported it; nil without any.
  private var reported: Int?
  private var changes: Int64 = 0
  private var taken = 0
  private var isStartNext: Bool

  /// - Parameters:
  ///   - count: the value before the first charge; nil if unknown.
  ///   - isStartSeen: whether the first charge is the first payment, which counts for nothing.
  public init(after count: Int64? = nil, isStartSeen: Bool) {
    self.count = isStartSeen ? 0 : count
    isStartNext = isStartSeen
  }

  /// Takes the next charge of the subscription; gives the jump of the counter up to it, if any.
  ///
  /// - Parameter counter: the counter in the charge; nil if absent.
  public mutating func take(_ kind: ChargeKind, counter: Int32?) -> CounterJump? {
    defer {
      taken += 1
      isStartNext = false
    }
    // A smaller counter in a charge that is not a renewal does not count renewals.
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

/// Counters of two charges, between which others must have come.
public struct CounterJump: Sendable, Equatable {
  /// The value before.
  public var from: Int64
  /// The value in the charge.
  public var to: Int64
  /// Changes of product and new starts in between without a counter, each of which can add one.
  public var changes: Int64
  /// The index of the charge that reported `from`; nil without any.
  public var previous: Int?

  /// How many numbers are left out.
  public var between: Int64 { to - from - 1 }
}
