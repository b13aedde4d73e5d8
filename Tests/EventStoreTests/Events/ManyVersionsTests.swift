import EventStore
import TestSupport
import Testing
import Domain

@Suite("Many versions of one event")
struct ManyVersionsTests {
  @Test("The last 64 versions of an event are kept, including the one that counts")
  func manyVersions() throws {
    for lines in [1, 64, 65, 150] {
      var contents: Set<[String]> = []
      for isReversed in [false, true] {
        let ledger = try Ledger.fresh()
        let versions = (1...lines).map { Line(created: Int64($0 % 90), usd: Int64($0)) }
        let counts = try ledger.ingest("a", isReversed ? versions.reversed() : versions)
        #expect(counts.accepted == Int64(lines))
        #expect(
          try ledger.table("select versions, counted from lineage") == ["\(min(lines, 64))|1"])
        contents.insert(
          try ledger.versions(ofLineage: try #require(try ledger.lineage(Line().lineage)))
            .map { "\($0.event.revenue?.usd?.micros ?? 0) \($0.counts)" }.sorted())
        #expect(try ledger.conflicts().map(\.places.count) == (lines > 1 ? [min(lines, 64)] : []))
      }
      #expect(contents.count == 1)
    }
  }

  @Test("A signal stops work within the versions of one event")
  func stopAmidVersions() throws {
    func asked(_ lines: Int, before: Int = .max) throws -> Int {
      let ledger = try Ledger.fresh()
      let listener = Listener(before: before)
      let intake = try ledger.beginEvents(.named("a"))
      try intake.add(.of((0..<lines).map { Line(created: 0, usd: Int64($0)) }))
      ledger.stop = listener.ask
      _ = try intake.finish()
      return listener.count
    }
    let one = try asked(1)
    let many = try asked(4_100)
    #expect(many > one, "each 4,096 events of a subscription")
    #expect(throws: SubledgerError.self) { try asked(4_100, before: many - 1) }
  }

  @Test("A version that a published run used is kept beyond the limit of 64")
  func publishedVersions() throws {
    let ledger = try Ledger.fresh()
    try ledger.ingest("a", [Line(created: 1, usd: 1), Line(created: 0, usd: 2)])
    try ledger.publish()
    let later = (3...90).map { Line(created: Int64($0), usd: Int64($0)) }
    try ledger.ingest("b", later)
    let row = try #require(try ledger.lineage(Line().lineage))
    let amounts = try ledger.versions(ofLineage: row).map { $0.event.revenue?.usd?.micros ?? 0 }
    #expect(amounts.sorted() == [1, 2] + (29...90).map(Int64.init))
    #expect(try ledger.events(ofLineage: row.key).map { $0.revenue?.usd?.micros } == [90])
  }

  @Test("An event in hundreds of lineages counts in the lineage with the last version")
  func manyLineages() throws {
    for isSplit in [false, true] {
      let ledger = try Ledger.fresh()
      let lines = (1...300).map { Line(original: "\($0)", created: Int64($0 * 11 % 301)) }
      let parts = isSplit ? [lines[..<100], lines[100...]] : [lines[...]]
      for (number, part) in parts.enumerated() { try ledger.ingest("\(number)", Array(part)) }
      let conflict = try #require(try ledger.conflicts().first)
      #expect(try ledger.table("select sum(counted), sum(versions) from lineage") == ["1|300"])
      #expect(conflict.event.created == Line().at + .seconds(300))
      #expect(conflict.lineages.count == 300 && conflict.places.count == 64)
      #expect(try ledger.table("select sum(conflicts) from delivery_cell") == ["299"])
    }
  }
}
