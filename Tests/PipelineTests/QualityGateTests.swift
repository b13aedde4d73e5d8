import Testing
import Domain

@testable import EventStore
@testable import Pipeline

@Suite("The quality gate reports reservations about the numbers")
struct QualityGateTests {
  private let rules = FoldSettings(asOf: Instant(milliseconds: 1_772_323_200_000))

  private func gate(
    failOn: String? = nil, net: Int64 = 1_000_000_000, breaks: [Break] = [],
    archives: [ArchiveRecord] = [], intake: ArchiveCounts = ArchiveCounts(),
    torn: IncompleteSnapshots? = nil
  ) throws -> QualityGate {
    let flags = failOn.map { ["fail_on": [$0]] } ?? [:]
    let plan = try Plan(flags: flags, environment: [:], now: rules.asOf)
    return try QualityGate(
      plan: plan, rules: rules, breaks: breaks, archives: archives, intake: intake,
      incompleteSnapshots: torn
    ) { month in
      month.text == "2026-02" ? Int128(net) : 0
    }
  }

  private func found(
    _ micros: Int64, _ status: BreakStatus = .open, severity: Severity = .high
  ) -> Break {
    var found = Break(id: "a", code: .missedRenewal, provider: .qonversion)
    found.status = status
    found.severity = severity
    found.estimatedUSD = Amount(micros: micros)
    found.expectedAt = Instant(milliseconds: 1_771_000_000_000)
    return found
  }

  private func archive(_ name: String, lines: Int64, skipped: Int64, rejected: Int64)
    -> ArchiveRecord
  {
    var counts = ArchiveCounts()
    counts.lines = lines
    counts.skipped = skipped
    counts.rejected = rejected
    counts.accepted = lines - skipped - rejected
    return ArchiveRecord(
      name: name, sha256: "", kind: .events, status: .complete, counts: counts)
  }

  @Test("A run that rejected much of its new lines has a reservation, and its set is unmarked")
  func newRejects() throws {
    let many = archive("old", lines: 30_000, skipped: 0, rejected: 0)
    var intake = ArchiveCounts()
    (intake.lines, intake.skipped, intake.rejected) = (229, 1, 19)
    #expect(try gate(archives: [many], intake: intake).reservations.isEmpty)
    intake.rejected = 20
    let found = try gate(archives: [many], intake: intake)
    #expect(!found.reservations.isEmpty && found.qualifications.isEmpty)
    #expect(found.reservations == ["20 of 228 lines that are new in this run were rejected"])
  }

  @Test("Snapshots with too many rejects are a reservation, and the set is unmarked")
  func incompleteSnapshots() throws {
    let few = IncompleteSnapshots(newest: "s", lines: 100, rejected: 19)
    #expect(try gate(torn: few).reservations.isEmpty)
    let share = IncompleteSnapshots(newest: "s", lines: 2000, rejected: 20)
    #expect(try gate(torn: share).reservations.isEmpty)
    let many = IncompleteSnapshots(
      newest: "s", files: 2, lines: 1999, rejected: 20, firstReject: "no time, at line 3")
    let found = try gate(torn: many)
    #expect(!found.reservations.isEmpty && found.qualifications.isEmpty)
    #expect(
      found.reservations.first?.hasPrefix(
        "20 of 1999 lines of 2 files of snapshots, the last of them s, were rejected "
          + "(no time, at line 3): ") == true)
  }

  @Test("Open breaks above half a percent of the month's net revenue qualify the set")
  func materiality() throws {
    #expect(try gate(breaks: [found(5_000_000)]).reservations.isEmpty)
    let above = try gate(breaks: [found(5_000_001)])
    #expect(!above.reservations.isEmpty)
    #expect(above.qualifications.count == 1)
    #expect(above.qualifications[0].contains("2026-02"))
    #expect(try !gate(breaks: [found(-5_000_001)]).reservations.isEmpty)
    #expect(try gate(breaks: [found(5_000_001, .pending)]).reservations.isEmpty)
    #expect(try !gate(net: 0, breaks: [found(1)]).reservations.isEmpty)
    var sandbox = found(5_000_001)
    sandbox.environment = .sandbox
    #expect(try gate(breaks: [sandbox]).reservations.isEmpty)
    // Without its own time it counts in the last month, as in the report.
    var undated = found(5_000_001)
    undated.expectedAt = nil
    #expect(try gate(breaks: [undated]).qualifications.count == 1)
    undated.estimatedUSD = Amount(micros: 5_000_000)
    #expect(try gate(breaks: [undated]).reservations.isEmpty)
    #expect(try !gate(net: -70_000_000, breaks: [found(1)]).reservations.isEmpty)
  }

  @Test("A gap in a feed counts only what exceeds the missing events in its hours")
  func feedGap() throws {
    var gap = Break(id: "g", code: .feedGap, provider: .qonversion)
    let missed = found(7_000_000)
    let begin = try #require(missed.expectedAt) - .hours(6)
    (gap.expectedAt, gap.estimatedUSD) = (begin, Amount(micros: 9_000_000))
    gap.settlesAt = begin + .hours(24) + rules.deliveryWindow(.qonversion)
    func worth(_ change: (inout Break, inout Break) -> Void = { _, _ in }) throws -> String? {
      var (gap, missed) = (gap, missed)
      change(&gap, &missed)
      let text = try gate(breaks: [missed, gap]).qualifications.first
      return text?.split(separator: " ").first { $0.contains(".") }.map(String.init)
    }
    #expect(try worth() == "9.00")
    #expect(try worth { gap, _ in gap.estimatedUSD = Amount(micros: 6_000_000) } == "7.00")
    // Only the first of two renewals is in the gap.
    #expect(try worth { $1.missingEvents = 2 } == "12.50")
    #expect(try worth { $1.expectedAt = begin - .hours(1) } == "16.00")
    #expect(try worth { $1.expectedAt = begin + .hours(24) } == "16.00")
    #expect(try worth { $1.status = .pending } == "9.00")
    #expect(try worth { $1.provider = .iaptic } == "16.00")
    #expect(try worth { gap, missed in (gap.app, missed.app) = ("a", "b") } == "16.00")
    #expect(try worth { $1.code = .rateMismatch } == "16.00")
  }

  @Test("More than one percent of rejected lines qualifies the set, from 20 lines on")
  func rejects() throws {
    let few = archive("a", lines: 19, skipped: 0, rejected: 19)
    #expect(try gate(archives: [few]).reservations.isEmpty)
    let share = archive("a", lines: 2000, skipped: 0, rejected: 20)
    #expect(try gate(archives: [share]).reservations.isEmpty)
    // Lines that were never events do not dilute those that should have been.
    let skipped = archive("a", lines: 2000, skipped: 1, rejected: 20)
    #expect(try !gate(archives: [skipped]).reservations.isEmpty)
    let one = try gate(archives: [
      archive("good", lines: 100_000, skipped: 0, rejected: 0),
      archive("bad", lines: 100, skipped: 0, rejected: 20),
    ])
    #expect(one.qualifications.count == 1)
    #expect(one.qualifications[0].contains("bad"))
  }

  @Test("The gate ignores breaks below its level")
  func gate() throws {
    let pending = found(0, .pending)
    let open = found(0, .open)
    let critical = found(0, .open, severity: .critical)
    let expected: [(String, [Bool])] = [
      ("none", [false, false, false]), ("pending", [true, true, true]),
      ("open", [false, true, true]), ("critical", [false, false, true]),
    ]
    for (level, hits) in expected {
      for (item, isHit) in zip([pending, open, critical], hits) {
        let gate = try gate(failOn: level, breaks: [item])
        let words = "breaks at or above --fail-on \(level): 1, see breaks.csv"
        #expect(gate.reservations == (isHit ? [words] : []), "\(level) \(item.status)")
      }
    }
  }

  @Test("Stale input counts for the gate, and has its own message")
  func stale() throws {
    var stale = Break(id: "s", code: .staleInput, provider: .qonversion)
    stale.evidence = "old"
    let words = "breaks at or above --fail-on open: 1, see breaks.csv"
    #expect(
      try gate(failOn: "open", breaks: [stale]).reservations == ["input is stale: old", words])
    for level in [nil, "critical"] {
      let gate = try gate(failOn: level, breaks: [stale])
      #expect(gate.reservations.isEmpty)
    }
  }
}
