import Domain
import Reconciliation
import Testing

@Suite("A user without a snapshot")
struct AbsentUserTests {
  @Test("A user without a snapshot is a break only if the set is complete")
  func snapshotAbsent() {
    var scenario = Scenario(.monthly(renewals: 1), shown: nil, at: "2026-02-20")
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.usersWithoutSnapshot] == 1)
    scenario.change = { $0.snapshotsComplete = true }
    #expect(scenario.codes == ["SNAPSHOT_ABSENT"])
    #expect(scenario.outcome.counts[.usersWithoutSnapshot] == nil)
    scenario.change = {
      $0.snapshotsComplete = true
      $0.snapshotsTakenAt = [:]
    }
    #expect(scenario.codes == [], "nothing is complete without any snapshot")
    scenario.change = { $0.snapshotsComplete = true }
    scenario.stories[0].environment = .sandbox
    scenario.stories[0].events = scenario.stories[0].events.map {
      var event = $0
      event.environment = .sandbox
      return event
    }
    #expect(scenario.codes == [])
  }

  @Test("Whether a user is absent is judged at the time when the snapshots were taken")
  func absentAtCapture() {
    var scenario = Scenario(.monthly(renewals: 1), shown: nil, at: "2026-02-20")
    scenario.change = {
      $0.snapshotsComplete = true
      $0.snapshotsTakenAt = [.qonversion: ["": at("2025-12-31")]]
    }
    #expect(scenario.codes == [])
    scenario.capturedAt = "2026-03-02"
    scenario.change = {
      $0.snapshotsComplete = true
      $0.snapshotsTakenAt = [.qonversion: ["": at("2026-02-20")]]
    }
    #expect(scenario.codes == ["SNAPSHOT_ABSENT"])
    // The snapshots of the app are older than those of another one.
    scenario.change = {
      $0.snapshotsComplete = true
      $0.snapshotsTakenAt = [.qonversion: ["app": at("2025-12-31"), "other": at("2026-02-20")]]
    }
    #expect(scenario.codes == [])
  }

  @Test("A user who returned after the snapshots were taken is not absent from them")
  func returnedLater() {
    func codes(_ failed: String?) -> [String] {
      var story = Story.monthly(renewals: 0)
      if let failed { story.report(.billingRetry, failed) }
      story.report(.renewed, "2026-02-25", until: "2026-03-25", transaction: 101, price: 10)
      let scenario = Scenario(story, shown: nil, at: "2026-03-02") {
        $0.snapshotsComplete = true
        $0.snapshotsTakenAt = [.qonversion: ["": at("2026-02-10")]]
      }
      return scenario.codes.filter { $0 == "SNAPSHOT_ABSENT" }
    }
    #expect(codes(nil) == [])
    #expect(codes("2026-02-01") == ["SNAPSHOT_ABSENT"])
  }
}
