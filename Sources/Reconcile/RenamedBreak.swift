public import Vocabulary

extension Break {
  /// The id that this break has under words of its own, when it had the id of `former` under those
  /// of `former`: a person or a subscription has another name since.
  ///
  /// Breaks do not keep what their id is made of besides, so every key is tried that a break of
  /// these words can have.
  ///
  /// - Parameters:
  ///   - former: the same break before.
  ///   - identities: events that it may be about.
  ///   - products: product ids that it may be about.
  /// - Returns: nil when no key makes the id of `former`.
  public func renamed(
    from former: Break, identities: Set<Int64>, products: Set<String>
  ) -> String? {
    let (old, new) = (Subject(former), Subject(self))
    if old == new, former.transaction == transaction { return former.id }
    let family = CodeFamily(former.code).text
    func isKey(_ key: String) -> Bool { breakID(family, old, key) == former.id }
    let transactionKey = "transaction "
    if isKey(transactionKey + former.transaction) {
      return breakID(family, new, transactionKey + transaction)
    }
    let moments = [former.expectedAt].compactMap { $0?.milliseconds }
    let lists: [any Sequence<String>] = [
      ["environment", "state", "active", "user", "snapshot"],
      moments.flatMap { ["silent after \($0)", "after \($0)"] },
      (0...Self.ordinalsMax).lazy.flatMap { ["ordinal \($0)", "period \($0)"] },
      products.lazy.map { "product " + $0 }, identities.lazy.map { "event \($0)" },
    ]
    for list in lists {
      for key in list where isKey(key) { return breakID(family, new, key) }
    }
    return nil
  }

  /// Daily renewals over five years.
  private static let ordinalsMax = 2000
}

extension Subject {
  /// What of a break its id is made of.
  init(_ item: Break) {
    self.init(provider: item.provider)
    app = item.app
    environment = item.environment
    user = item.subscription.isEmpty ? item.user : ""
    original = item.subscription
  }
}
