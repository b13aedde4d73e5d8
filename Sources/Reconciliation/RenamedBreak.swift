public import Domain

extension Break {
  /// The id that this break has under words of its own, when it had the id of `former` under those
  /// of `former`: a person or a subscription has another name since.
  ///
  /// Breaks do not keep what their id is made of besides, so every key is tried that a break of
  /// these words can have.
  ///
  /// - Parameters:
  ///   - former: the same break before.
  ///   - clues: what it may be about.
  /// - Returns: nil when no key makes the id of `former`.
  public func renamed(from former: Break, _ clues: BreakClues) -> String? {
    let (old, new) = (BreakSubject(former), BreakSubject(self))
    if old == new, former.transaction == transaction { return former.id }
    guard let number = UInt64(former.id, radix: 16) else { return nil }
    let family = CodeFamily(former.code)
    let (before, after) = (BreakIDs(family, old), BreakIDs(family, new))
    if before.number(of: .transaction(former.transaction)) == number {
      return after.id(of: .transaction(transaction))
    }
    if let moment = former.expectedAt,
      BreakIDs(.silentEnd, old).number(of: .silence(moment)) == number
    {
      return BreakIDs(.silentEnd, new).id(of: .silence(moment))
    }
    let ordinals = 0...Int64(Event.renewalCountMax) + Int64(clues.identities.count) + 1
    let keys: [any Sequence<BreakKey>] = [
      [.environment, .state, .active, .user, .snapshot, .period(nil)],
      former.expectedAt.map { [.after($0)] } ?? [], clues.ends.lazy.map { .after($0) },
      clues.products.lazy.map { .product($0) }, clues.identities.lazy.map { .event($0) },
      clues.times.lazy.map { .period($0) },
      // Counters end where they are refused, and renewals without one are counted on from there.
      // Last, because few are that high and all of them take a while.
      ordinals.lazy.map { .ordinal($0) },
    ]
    for some in keys {
      for key in some where before.number(of: key) == number { return after.id(of: key) }
    }
    return nil
  }
}

extension BreakSubject {
  /// What of a break its id is made of.
  init(_ item: Break) {
    self.init(provider: item.provider)
    app = item.app
    environment = item.environment
    user = item.subscription.isEmpty ? item.user : ""
    original = item.subscription
  }
}
