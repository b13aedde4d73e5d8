import Reconciliation
import Testing
import Subscriptions
import Domain

@Suite("One subscription in two environments")
struct EnvironmentLeakTests {
  @Test("A leak reports when each environment began, and is open at once")
  func leak() throws {
    var sandbox = Story(environment: .sandbox)
    sandbox.report(.started, "2026-01-03", until: "2026-01-04")
    let lineage = try #require(Story.monthly(renewals: 1).lineage(until: at("2026-03-01")))
    let counterpart = try #require(sandbox.lineage(until: at("2026-03-01")))
    let rules = ReconciliationSettings(fold: FoldSettings(asOf: at("2026-03-01")))
    let leak = environmentLeak(lineage, counterpart: counterpart, rules: rules)
    #expect(leak.code == .envLeak)
    #expect(leak.status == .open)
    #expect(leak.subscription == "100")
    #expect(leak.evidence.contains("2026-01-01T00:00:00Z"))
    #expect(leak.evidence.contains("2026-01-03T00:00:00Z"))
  }
}
