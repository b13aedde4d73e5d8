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

  /// Whether a break reports one of them as a user without events; an unknown app matches any.
  func contradict(_ found: Break) -> Bool {
    guard found.code == .eventsAbsent else { return false }
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
