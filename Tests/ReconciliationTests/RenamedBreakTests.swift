import Reconciliation
import Testing
import Domain

@Suite("The ids of breaks whose person or subscription has another name")
struct RenamedBreakTests {
  /// Checks that each break of `scenario` is known again once its subscription has another name.
  private func expectFound(_ scenario: Scenario, _ codes: [String]) {
    #expect(scenario.codes == codes)
    var renamed = scenario
    renamed.stories[0].original = "erased"
    for former in scenario.breaks {
      var item = former
      item.subscription = "erased"
      var clues = BreakClues()
      clues.identities = Set(scenario.stories[0].events.map(\.identity))
      clues.times = Set(scenario.stories[0].events.map(\.time))
      clues.ends = Set(scenario.stories[0].events.compactMap(\.periodEnd))
      clues.products = Set(scenario.entitlements?.map(\.product) ?? [])
      let id = item.renamed(from: former, clues)
      #expect(id != former.id)
      #expect(renamed.breaks.map(\.id).contains(id ?? "none"), "\(former.code)")
    }
  }

  @Test(
    "A gap is found at whatever counter is read",
    arguments: [0, 1, 2_001, Event.renewalCountMax - 2])
  func counters(count: Int32) {
    var story = Story()
    story.tell(
      .renewed, "2026-01-01", until: "2026-02-01", transaction: 101, price: 10, count: count)
    story.tell(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10, count: count + 2)
    expectFound(
      Scenario(stories: [story], entitlements: nil, capturedAt: "2026-03-20"), ["MISSED_RENEWAL"])
  }

  @Test("Renewals are found that are counted on from the highest counter that is read")
  func countedOn() {
    var story = Story()
    let count = Event.renewalCountMax
    story.tell(
      .renewed, "2026-01-01", until: "2026-02-01", transaction: 101, price: 10, count: count)
    story.tell(.renewed, "2026-02-01", until: "2026-03-01", transaction: 102, price: 10)
    let paid = premium(until: "2026-04-01")
    expectFound(
      Scenario(stories: [story], entitlements: [paid], capturedAt: "2026-03-20"),
      ["MISSED_RENEWAL"])
  }

  @Test("An end of which nothing was told is found, as a renewal and as an expiry")
  func silentEnd() {
    var scenario = Scenario(
      stories: [.monthly(renewals: 1)], entitlements: nil, capturedAt: "2026-03-20")
    expectFound(scenario, ["MISSED_RENEWAL"])
    scenario.capturedAt = "2026-04-03"
    expectFound(scenario, ["MISSED_EXPIRATION"])
  }

  @Test("A cancel is found by when its period was charged")
  func cancel() {
    let canceled = premium(until: "2026-03-01", .canceled)
    expectFound(
      Scenario(
        stories: [.monthly(renewals: 1)], entitlements: [canceled], capturedAt: "2026-02-20"),
      ["MISSED_CANCEL"])
  }

  @Test("A change of product is found that the snapshot shows with the period that it began")
  func productChange() {
    var story = Story()
    story.tell(.renewed, "2026-01-01", until: "2026-02-01", transaction: 0, price: 10)
    let yearly = premium(until: "2026-04-01", product: "yearly")
    var scenario = Scenario(stories: [story], entitlements: [yearly], capturedAt: "2026-03-20")
    scenario.change = { $0.products["yearly"] = ["com.example.yearly"] }
    expectFound(scenario, ["MISSED_PRODUCT_CHANGE"])
  }

  @Test("A new start after a lapse is found by the moment that the snapshot tells")
  func restart() {
    var story = Story.monthly(renewals: 0)
    story.tell(.canceled, "2026-01-20", until: "2026-02-01")
    story.tell(.expired, "2026-02-01", until: "2026-02-01")
    expectFound(
      Scenario(
        stories: [story],
        entitlements: [premium(until: "2026-04-10", started: "2026-03-10")],
        capturedAt: "2026-03-20"), ["MISSED_START"])
  }

  @Test("A new start after a told end is found, whatever end is shown")
  func restartUntold() {
    var story = Story.monthly(renewals: 0)
    story.tell(.expired, "2026-02-01", until: "2026-02-01")
    var ids: Set<String> = []
    for end in ["2026-05-20", "2026-06-20"] {
      let scenario = Scenario(
        stories: [story], entitlements: [premium(until: end)], capturedAt: "2026-05-10")
      expectFound(scenario, ["MISSED_START"])
      ids.formUnion(scenario.breaks.map(\.id))
    }
    #expect(ids.count == 1)
  }

  @Test("What nothing tells is another break")
  func unknown() {
    var former = Break(id: "0123456789abcdef", code: .missedRenewal, provider: .qonversion)
    former.subscription = "100"
    var item = former
    item.subscription = "erased"
    var clues = BreakClues()
    clues.products = ["a"]
    #expect(item.renamed(from: former, clues) == nil)
  }
}
