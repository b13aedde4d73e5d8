import EventStore
import TestSupport
import Testing
import Domain

@Suite("The ledger keeps what a run has published")
struct HistoryTests {
  @Test("An archive belongs to the run that publishes it, however many runs were started")
  func archiveRuns() throws {
    let ledger = try Ledger.fresh()
    try ledger.ingest("a", [Line()])
    try ledger.publish()
    try ledger.publish()
    try ledger.ingest("b", [Line(transaction: "2")])
    _ = try ledger.beginRun(asOf: Instant(seconds: 1), version: "1", options: "{}")
    try ledger.ingest("c", [Line(transaction: "3")])
    try ledger.recordRepeat(.named("a again"))
    try ledger.publish()
    try ledger.ingest("d", [Line(transaction: "4")])
    #expect(try ledger.table("select run from archive order by id") == ["1", "3", "3", "3", "4"])
    #expect(try ledger.table("select run from delivery_cell order by run") == ["1", "3", "4"])
    #expect(try ledger.watermarks(asOf: .end).count == 1)
  }

  @Test("A later copy replaces an unpublished one, and is stored next to a published one")
  func copies() throws {
    // Copies from a provider with fixed users would conflict in their users.
    func copy(_ created: Int64, user: String = "user-1") -> Line {
      Line(provider: .flobuk, user: user, created: created)
    }
    let ledger = try Ledger.fresh()
    try ledger.ingest("a", [copy(1)])
    try ledger.ingest("b", [copy(2)])
    #expect(try ledger.table("select versions, counted from lineage") == ["1|1"])
    try ledger.publish()
    try ledger.ingest("c", [copy(3)])
    #expect(try ledger.table("select versions, counted from lineage") == ["2|1"])
    try ledger.ingest("d", [copy(5, user: "late"), copy(4)])
    #expect(try ledger.table("select versions, counted from lineage") == ["2|1"])
    let event = try #require(try ledger.events(ofLineage: copy(1).lineage).first)
    #expect(event.created == Line().at + .seconds(5))
    #expect(try ledger.user(ofLineage: copy(1).lineage) == "late")
    #expect(try ledger.conflicts().isEmpty)
    #expect(try ledger.table("select count(*) from event_conflict") == ["0"])
    #expect(
      try ledger.table("select sum(distinct_events), sum(duplicates_exact) from delivery_cell")
        == ["1|4"])
  }

  @Test("Duplicates and conflicts over several runs give the result of one run", arguments: 1...7)
  func runs(seed: UInt64) throws {
    var numbers = SeededNumbers(seed: seed)
    func below(_ limit: Int) -> Int { numbers.below(limit) }
    // A body identifies its content: copies with the same body are equal.
    let versions = (0..<45).map { number in
      Line(
        transaction: "\(number / 5)", original: ["1000", "1000", "1000", "999"][below(4)],
        user: "u\(below(4))", product: below(4) == 0 ? "other" : "pro",
        time: 60, created: below(3) == 0 ? nil : Int64(below(3)), body: "\(number)")
    }
    let lines = (0..<160).map { _ in
      var line = versions[below(versions.count)]
      line.received = Int64(below(3))
      return line
    }
    let once = try Ledger.fresh()
    try once.ingest("all", lines)
    let incremental = try Ledger.fresh()
    var rest = lines
    while !rest.isEmpty {
      var run: [Line] = []
      for _ in 0...below(12) where !rest.isEmpty {
        run.append(rest.remove(at: below(rest.count)))
      }
      try incremental.ingest("\(rest.count)", run)
      if below(2) == 0 { try incremental.publish() }
    }
    let content = try once.countedContent()
    #expect(content.contains { $0.hasPrefix("conflict") })
    let other = try incremental.countedContent()
    #expect(other.filter { !content.contains($0) } == [], "seed \(seed): not in one night")
    #expect(content.filter { !other.contains($0) } == [], "seed \(seed): not in many")
    #expect(
      try incremental.table("select sum(versions) > count(*) from lineage") == ["1"], "seed \(seed)"
    )
  }

  @Test("A run's documents are stored once, and removed when no run uses them")
  func documents() throws {
    let ledger = try Ledger.fresh()
    var documents = RunDocuments()
    documents.prices = Document(sha256: "p", body: [1, 2])
    documents.decisions = Document(sha256: "left behind", body: [3])
    _ = try begin(documents, in: ledger)
    documents.decisions = Document(sha256: "d", body: [4])
    let first = try begin(documents, in: ledger)
    try ledger.publish()
    var others = documents
    others.prices = nil
    let second = try begin(others, in: ledger)
    #expect([first, second] == [1, 2])
    #expect(try ledger.documents(ofRun: first) == documents)
    #expect(try ledger.documents(ofRun: second) == others)
    #expect(try ledger.table("select sha256 from document order by 1") == ["d", "p"])
  }

  private func begin(_ documents: RunDocuments, in ledger: Ledger) throws -> Int64 {
    try ledger.beginRun(
      asOf: Instant(seconds: 1), version: "1", options: "{}", documents: documents)
  }
}

extension Ledger {
  /// Ends a run that publishes what arrived so far, with its documents.
  func publish() throws {
    let run = try table(
      "select coalesce((select id from run where published is null), 0)")
    var number = Int64(run[0]) ?? 0
    if number == 0 {
      number = try beginRun(asOf: Instant(seconds: 1), version: "1", options: "{}")
    }
    try finishRun(number, archives: 0, counts: ArchiveCounts(), published: "set \(number)")
  }

  /// What does not depend on the order of arrival: counted events by lineage, and conflicts.
  func countedContent() throws -> [String] {
    var content: [String] = []
    try forEachLineage { row, events in
      content.append("\(row.original) \(try userText(row.user) ?? "")")
      for event in events {
        content.append(
          """
          \(event.identity) \(event.body) \(symbols.words[Int(event.product)]) \(event.user) \
          \(event.created?.text ?? "-") \(event.received?.text ?? "-")
          """)
      }
    }
    for conflict in try conflicts() {
      let identity = conflict.event.identity
      content.append("conflict \(identity) \(conflict.fields) \(conflict.places.count)")
    }
    return content
  }
}
