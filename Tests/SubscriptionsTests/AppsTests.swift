import Testing
import Domain

@testable import Subscriptions

@Suite("An event without an app belongs to the only app that fits")
struct AppsTests {
  /// Apps and products of a user's events, and the apps that they get.
  private func apps(
    _ sent: [(app: StringID, product: StringID)], only: StringID? = nil,
    _ provider: Provider = .purple
  ) -> [StringID] {
    var rules = FoldSettings(asOf: Instant(seconds: 100))
    rules.onlyApps[provider] = only
    let events = sent.enumerated().map { index, sent in
      var event = Event(provider: provider, kind: .renewed, time: Instant(seconds: Int64(index)))
      (event.app, event.product, event.identity) = (sent.app, sent.product, Int64(index))
      return event
    }
    return events.byApp(rules).flatMap(\.self).sorted { $0.identity < $1.identity }.map(\.app)
  }

  @Test("An event belongs to the provider's only app, or to the only app with the user's product")
  func fitting() {
    #expect(apps([(0, 1)], only: 7) == [7])
    #expect(apps([(7, 1), (8, 2), (0, 1), (0, 2)]) == [7, 8, 7, 8])
    #expect(apps([(7, 1), (8, 1), (0, 1), (0, 3), (7, 3)]) == [7, 8, 0, 7, 7])
  }

  @Test("If several apps fit, or none, the event has no app")
  func unknown() {
    #expect(apps([(0, 1)]) == [0])
    #expect(apps([(7, 1), (0, 2)]) == [7, 0])
    #expect(apps([(7, 1), (0, 1)], .iaptic) == [7, 0])
  }

  @Test("A user's apps are folded separately")
  func apart() {
    let rules = FoldSettings(asOf: Instant(seconds: 100))
    let events = ([7, 8, 7] as [StringID]).enumerated().map { index, app in
      var event = Event(provider: .purple, kind: .renewed, time: Instant(seconds: Int64(index)))
      (event.app, event.identity) = (app, Int64(index))
      return event
    }
    #expect(events.byApp(rules).map { $0.map(\.identity) } == [[0, 2], [1]])
    #expect(Array(events.reversed()).byApp(rules).map { $0.map(\.app) } == [[7, 7], [8]])
  }
}
