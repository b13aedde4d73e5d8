import Domain

/// Users in events of a lineage that has another current user: a purchase can be restored or
/// shared, and an account can take over the purchases of its device.
struct PreviousOwners {
  /// Fingerprints of provider, user and app, and of provider and user alone: there may be as many
  /// as there are devices.
  var named: Set<Int64> = []

  /// Reads the events of a lineage of `user` in `app` before as-of.
  mutating func read(_ events: [Event], of user: Int64, in app: String, asOf: Instant) {
    var last: Int64 = 0
    for event in events where event.user != user && event.user != last {
      guard event.user != 0, event.time < asOf else { continue }
      named.insert(key(event.provider, event.user, app))
      named.insert(key(event.provider, event.user, nil))
      last = event.user
    }
  }

  /// Whether a break reports access of one of them that no event names.
  ///
  /// Another user can hold it now. An unknown app matches any.
  func contradict(_ found: Break) -> Bool {
    guard found.isOfUnnamedAccess else { return false }
    let user = Int64(userKeyText: found.user)
    guard !found.app.isEmpty else { return named.contains(key(found.provider, user, nil)) }
    return [found.app, ""].contains { named.contains(key(found.provider, user, $0)) }
  }

  private func key(_ provider: Provider, _ user: Int64, _ app: String?) -> Int64 {
    var fingerprint = Fingerprint(seed: app == nil ? 1 : 0)
    fingerprint.combine(UInt64(provider.rawValue))
    fingerprint.combine(UInt64(bitPattern: user))
    fingerprint.combine(app ?? "")
    return fingerprint.value
  }
}

extension [Break] {
  /// Removes both sides of a transfer that no event shows yet: the snapshot of one user lacks the
  /// access that the snapshot of another, without such events, shows until the same moment.
  mutating func removeTransfers() {
    let lost = Set(lazy.filter { $0.code == .aheadOfSnapshot }.compactMap(\.access))
    guard !lost.isEmpty else { return }
    let moved = lost.intersection(lazy.filter(\.isOfUnnamedAccess).compactMap(\.access))
    removeAll { found in found.access.map(moved.contains) ?? false }
  }
}

private extension Break {
  /// Whether it reports access of a user that no event names.
  var isOfUnnamedAccess: Bool {
    code == .eventsAbsent || code.isCharge && subscription.isEmpty && transaction.isEmpty
  }

  /// A product and the end of the access to it.
  struct Access: Hashable {
    let provider: Provider
    let product: String
    let end: Instant
  }

  /// The access that only one side shows; nil if its end or product is unknown.
  var access: Access? {
    guard let accessEnd, !product.isEmpty else { return nil }
    return Access(provider: provider, product: product, end: accessEnd)
  }
}
