import Testing
import Domain

@testable import EventStore
@testable import Pipeline

@Suite("A reproduced set is compared with the published one")
struct ReproductionCheckTests {
  private func check(
    by version: String, since: [AuditEntry.AuditAction] = []
  ) -> ReproductionCheck {
    let run = RunRow(
      id: 3, asOf: Instant(seconds: 1_772_323_200), version: version, options: "{}", archives: 1,
      counts: ArchiveCounts())
    return ReproductionCheck(
      run: run, files: 9, differing: ["breaks.csv", "churn_monthly.csv"],
      since: since)
  }

  @Test("Different bytes are wrong, except in files with names of persons erased since")
  func sameVersion() {
    let all = check(by: "2.0").outcome(by: "2.0")
    #expect(all.wrong == ["breaks.csv", "churn_monthly.csv"] && all.notes.isEmpty)
    let explained = check(by: "2.0", since: [.close, .erase]).outcome(by: "2.0")
    #expect(explained.wrong == ["churn_monthly.csv"])
    #expect(explained.notes.count == 1 && explained.notes[0].hasSuffix("differ in: breaks.csv"))
  }

  @Test("Lines retracted since explain different bytes anywhere; a close does not")
  func retracted() {
    #expect(check(by: "2.0", since: [.close]).outcome(by: "2.0").wrong.count == 2)
    for action in [AuditEntry.AuditAction.retract, .readmit] {
      let (wrong, notes) = check(by: "2.0", since: [action]).outcome(by: "2.0")
      #expect(wrong.isEmpty && notes.count == 1 && notes[0].contains("were retracted since run 3"))
    }
  }

  @Test("Different output of another program version is noted and not wrong")
  func otherVersion() {
    let (wrong, notes) = check(by: "1.9").outcome(by: "2.0")
    #expect(wrong.isEmpty)
    #expect(notes.count == 1 && notes[0].hasSuffix("by 2.0: breaks.csv, churn_monthly.csv"))
  }
}
