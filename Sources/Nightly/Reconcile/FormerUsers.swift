import Vocabulary

/// Users who were told of, while the lineage is filed under another one: a purchase can be restored
/// or shared, and an account can take over what its device bought.
struct FormerUsers {
  private struct Person: Hashable {
    var provider: Provider
    /// Fingerprint of the user id.
    var user: Int64
  }

  private var apps: [Person: Set<String>] = [:]

  /// Reads the events before as-of of a lineage of `user` in `app`.
  mutating func read(_ events: [Event], of user: Int64, in app: String, asOf: Instant) {
    for event in events where event.user != user && event.user != 0 && event.time < asOf {
      apps[Person(provider: event.provider, user: event.user), default: []].insert(app)
    }
  }

  /// Whether a break says of one of them that no event ever came; an app that is not known may be
  /// any.
  func contradict(_ found: Break) -> Bool {
    guard found.code == .eventsAbsent,
      let told = apps[Person(provider: found.provider, user: Fingerprint.of(found.user))]
    else { return false }
    return found.app.isEmpty || told.contains(found.app) || told.contains("")
  }
}
