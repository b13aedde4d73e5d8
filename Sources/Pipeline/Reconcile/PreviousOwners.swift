import Domain
import EventStore
import Reconciliation

/// Users in events of a lineage that has another current user: a purchase can be restored or
/// shared, and an account can take over the purchases of its device.
struct PreviousOwners {
  /// Fingerprints of provider and user, alone, with an app and with a product: there may be as many
  /// as there are devices.
  var named: Set<Int64> = []

  /// Reads the events of a lineage of `user` in `app` before as-of.
  mutating func read(
    _ events: [Event], of user: Int64, in app: String, asOf: Instant, _ words: [String]
  ) {
    var last: (user: Int64, product: StringID) = (0, 0)
    for event in events where event.user != user && (event.user, event.product) != last {
      guard event.user != 0, event.time < asOf else { continue }
      named.insert(key(event.provider, event.user))
      named.insert(key(event.provider, event.user, app: app))
      named.insert(key(event.provider, event.user, product: words[Int(event.product)]))
      last = (event.user, event.product)
    }
  }

  /// Whether a break reports access that one of them had: another user can hold it now.
  ///
  /// An unknown app or product matches any.
  func contradict(_ found: Break) -> Bool {
    guard found.isOfUnnamedAccess else { return false }
    let user = Int64(userKeyText: found.user)
    if found.code.isCharge, !found.product.isEmpty {
      return named.contains(key(found.provider, user, product: found.product))
    }
    guard !found.app.isEmpty else { return named.contains(key(found.provider, user)) }
    return [found.app, ""].contains { named.contains(key(found.provider, user, app: $0)) }
  }

  private func key(
    _ provider: Provider, _ user: Int64, app: String? = nil, product: String? = nil
  ) -> Int64 {
    var fingerprint = Fingerprint(seed: app != nil ? 0 : product == nil ? 1 : 2)
    fingerprint.combine(UInt64(provider.rawValue))
    fingerprint.combine(UInt64(bitPattern: user))
    fingerprint.combine(app ?? product.map { $0.withoutBasePlan ?? $0 } ?? "")
    return fingerprint.value
  }
}

extension Reconciled {
  /// Removes breaks of access that moved to another account, from the results of all users.
  ///
  /// Either events name both users, or none of the second user yet, but the snapshot of the first
  /// lacks access that the snapshot of the second shows until the same second.
  mutating func removeMovedAccess() {
    let sides = Dictionary(grouping: result.breaks.filter { $0.access != nil }, by: \.access)
    var moved: Set<String> = []
    for found in sides.values {
      let lost = found.filter { $0.code == .aheadOfSnapshot }
      for gained in found where gained.isOfUnnamedAccess {
        let given = lost.filter { $0.user != gained.user && $0.mayShareApp(with: gained) }
        if !given.isEmpty { moved.formUnion((given + [gained]).map(\.id)) }
      }
    }
    result.breaks.removeAll { moved.contains($0.id) || previousOwners.contradict($0) }
  }
}

private extension Break {
  /// Whether it reports access of a user that no event names.
  var isOfUnnamedAccess: Bool {
    code == .eventsAbsent || code.isCharge && subscription.isEmpty && transaction.isEmpty
  }

  /// A product, and the second in which the access to it ends.
  struct Access: Hashable {
    let provider: Provider
    let environment: Environment
    let product: String
    let end: Int64
  }

  /// The access that only one side shows; nil if its end or product is unknown.
  var access: Access? {
    guard let accessEnd, !product.isEmpty else { return nil }
    return Access(
      provider: provider, environment: environment, product: product.withoutBasePlan ?? product,
      end: accessEnd.milliseconds / 1_000)
  }

  func mayShareApp(with other: Break) -> Bool {
    app == other.app || app.isEmpty || other.app.isEmpty
  }
}
