public import Domain

/// The renewals of one life, counted charge by charge: by the provider's counter where a charge
/// carries it, else on from the renewal before.
///
/// The counter is said to count from the second payment, so that a change of product and a new
/// start may count in it, or not: no vendor's page says. One that brings no counter leaves room for
/// one more.
public struct RenewalCounter: Sendable {
  /// What the counter stands at; nil while nothing tells it.
  public private(set) var count: Int64?
  /// The last charge that told it, by its place among those taken; nil when none did.
  private var told: Int?
  private var changes: Int64 = 0
  private var taken = 0
  private var isStartNext: Bool

  /// - Parameters:
  ///   - count: what the counter stood at before the first charge; nil when that is not known.
  ///   - isStartSeen: whether the first charge is the first payment, which counts for nothing.
  public init(after count: Int64? = nil, isStartSeen: Bool) {
    self.count = isStartSeen ? 0 : count
    isStartNext = isStartSeen
  }

  /// Takes the next charge of the subscription; gives the jump of the counter up to it, if any.
  ///
  /// - Parameter counter: what the charge says of the counter; nil when it says nothing.
  public mutating func take(_ kind: ChargeKind, counter: Int32?) -> CounterJump? {
    defer {
      taken += 1
      isStartNext = false
    }
    // What counts less than is known, and is no renewal, does not speak of renewals.
    let counter = counter.map(Int64.init).flatMap { value in
      kind == .renewal || value >= count ?? 1 ? value : nil
    }
    guard let counter else {
      if isStartNext { told = taken }
      if kind == .renewal { count = count.map { $0 + 1 } }
      if kind != .renewal, !isStartNext { changes += 1 }
      return nil
    }
    let jump = count.map {
      CounterJump(from: $0, to: counter, changes: changes, previous: told)
    }
    (count, told, changes) = (counter, taken, 0)
    guard let jump, !isStartNext, jump.between > 0 else { return nil }
    return jump
  }
}

/// Counters of two charges, between which others must have come.
public struct CounterJump: Sendable, Equatable {
  /// What was counted before.
  public var from: Int64
  /// What the charge says.
  public var to: Int64
  /// Changes of product and new starts in between that brought no counter, each of which may count
  /// for one.
  public var changes: Int64
  /// The charge that told `from`, by its place among those taken; nil when none did.
  public var previous: Int?

  /// How many numbers are left out.
  public var between: Int64 { to - from - 1 }
}
