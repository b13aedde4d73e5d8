import EventStore
import Testing
import Domain

@Suite("Counts of archives and deliveries")
struct AccountTests {
  let ledger: Ledger

  init() throws { ledger = try Ledger.fresh() }

  @Test("Every line of an archive is accounted for, in counts and in the table")
  func lines() throws {
    let ingest = try ledger.beginEvents(.named("a"))
    let reject = Reject(
      place: Provenance(line: 9, byteOffset: 90), reason: "not_json", detail: "at byte 3")
    try ingest.add(.of([Line(time: 5), Line(time: 5)], rejects: [reject], skipped: ["test": 3]))
    var odd = EventBatch()
    odd.note(roundedAmounts: 2, missingIsProceed: 1)
    odd.add(Line(time: 9), value: 0)
    (odd.skipped, odd.lines) = (["test": 1, "probe": 1], 3)
    try ingest.add(odd)
    let archive = try ingest.finish()
    var expected = ArchiveCounts()
    expected.lines = 9
    expected.accepted = 2
    expected.duplicates = 1
    expected.skipped = 5
    expected.rejected = 1
    expected.roundedAmounts = 2
    expected.missingIsProceed = 1
    #expect(archive == expected)
    #expect(
      try ledger.table("select first_event_ms, last_event_ms from archive")
        == ["\(Line(time: 5).at.milliseconds)|\(Line(time: 9).at.milliseconds)"])
    #expect(
      try ledger.table(
        """
        select lines, accepted, duplicates, skipped, rejected, rounded_amounts,
          missing_is_proceed, last_event_ms - first_event_ms, status, damage_offset
        from archive
        """) == ["9|2|1|5|1|2|1|4000|complete|-"])
    #expect(
      try ledger.table("select reason, lines from skipped order by reason")
        == ["probe|1", "test|4"])
    #expect(
      try ledger.table("select archive, line, byte_offset, reason, detail from reject")
        == ["1|9|90|not_json|at byte 3"])
    #expect(try ledger.rejects(for: "not_json", of: "sha of a") == [90: "at byte 3"])
  }

  @Test("Rejects of one reason and archive are listed by line, unless they exceed the limit")
  func rejectsByPlace() throws {
    for (name, count) in [("a", 1_000), ("b", 1_001), ("c", 0)] as [(String, Int64)] {
      let rejects = (0..<count).map {
        Reject(place: Provenance(line: $0, byteOffset: $0), reason: "one", detail: "\($0)")
      }
      try ledger.ingest(name, .of([], rejects: rejects))
    }
    let all = Dictionary(uniqueKeysWithValues: (0..<1_000).map { (Int64($0), "\($0)") })
    #expect(try ledger.rejects(for: "one", of: "sha of a") == all)
    #expect(try ledger.rejects(for: "one", of: "sha of b") == nil)
    for (reason, name) in [("one", "c"), ("three", "b"), ("one", "d")] {
      #expect(try ledger.rejects(for: reason, of: "sha of \(name)") == [:])
    }
  }

  @Test(
    "Notes on reading a body count once for all its deliveries, and again for a new version")
  func readingsOnce() throws {
    func reported(_ line: Line) -> EventBatch {
      var batch = EventBatch()
      for value in 0..<2 as Range<Int32> {
        batch.note(roundedAmounts: 300, missingIsProceed: 1)
        batch.add(line, value: value)
      }
      batch.lines = 2
      return batch
    }
    var counts: [[Int64]] = []
    for (number, line) in [Line(), Line(), Line(usd: 4_990_000)].enumerated() {
      let archive = try ledger.ingest("\(number)", reported(line))
      counts.append([archive.roundedAmounts, archive.missingIsProceed])
    }
    #expect(counts == [[300, 1], [0, 0], [300, 1]])
  }

  @Test("A line with several events is accepted once if any of them is new")
  func valuesOfSeveralEvents() throws {
    try ledger.ingest("a", [Line()])
    var batch = EventBatch()
    batch.add(Line(), value: 0)
    batch.add(Line(transaction: "2"), value: 0)
    batch.add(Line(), value: 1)
    batch.lines = 2
    let archive = try ledger.ingest("b", batch)
    #expect(archive.accepted == 1)
    #expect(archive.duplicates == 1)
  }

  @Test("A damaged archive keeps the damage offset; the complete archive adds the rest")
  func damaged() throws {
    let first = try ledger.beginEvents(.named("a"))
    try first.add(.of([Line()]))
    _ = try first.finish(damageOffset: 4711)
    #expect(try ledger.table("select status, damage_offset from archive") == ["damaged|4711"])
    var whole = NewArchive.named("a")
    whole.sha256 = "another"
    let second = try ledger.beginEvents(whole)
    try second.add(.of([Line(), Line(transaction: "2")]))
    let archive = try second.finish()
    #expect(archive.accepted == 1)
    #expect(archive.duplicates == 1)
  }

  @Test("An unchanged file is recognized without reading it; any change makes it unknown")
  func unchanged() throws {
    try ledger.ingest("a", [Line()])
    func isUnchanged(
      path: String = "/in/a", bytes: Int64 = 10, seconds: Int64 = 5, inode: Int64 = 7,
      kind: ArchiveKind = .events
    ) throws -> Bool {
      try ledger.isUnchanged(
        path: path, bytes: bytes, modified: Instant(seconds: seconds), inode: inode,
        kind: kind)
    }
    #expect(try isUnchanged())
    #expect(try !isUnchanged(path: "/in/b"))
    #expect(try !isUnchanged(bytes: 11))
    #expect(try !isUnchanged(seconds: 6))
    #expect(try !isUnchanged(inode: 8))
    #expect(try !isUnchanged(kind: .snapshots))
  }

  @Test("The same bytes are listed without lines under a new name, and updated under the old one")
  func repeated() throws {
    try ledger.ingest("a", [Line()])
    #expect(try ledger.archiveWithContent(sha256: "none", kind: .events) == nil)
    let known = try #require(try ledger.archiveWithContent(sha256: "sha of a", kind: .events))
    #expect(known.name == "a" && known.modified == Instant(seconds: 5))
    var copy = NewArchive.named("copy")
    copy.sha256 = "sha of a"
    try ledger.recordRepeat(copy)
    var touched = NewArchive.named("a")
    touched.modified = Instant(seconds: 99)
    try ledger.recordRepeat(touched)
    #expect(
      try ledger.table("select name, status, lines, modified_ms from archive order by name")
        == ["a|complete|1|99000", "copy|repeated|0|5000"])
    #expect(try ledger.archiveWithContent(sha256: "sha of a", kind: .events)?.name == "a")
    #expect(try ledger.archiveWithContent(sha256: "sha of a", kind: .snapshots) == nil)
  }

  @Test("A delivery counts on the day it was received, else created, else happened")
  func deliveryDays() throws {
    let day: Int64 = 86_400
    try ledger.ingest(
      "a",
      [
        Line(transaction: "1"), Line(transaction: "2", created: day),
        Line(transaction: "3", created: day, received: 2 * day),
      ])
    let first = CivilCalendar.utc.day(of: Line().at).number
    #expect(
      try ledger.table("select day, kind, delivered from delivery_cell order by day")
        == (0..<Int32(3)).map { "\(first + $0)|7|1" })
  }

  @Test("Latency counts only received events, is never negative, and adds up")
  func latency() throws {
    try ledger.ingest(
      "a",
      [
        Line(transaction: "1"), Line(transaction: "2", received: -5),
        Line(transaction: "3", received: 127),
      ])
    try ledger.ingest(
      "b", [Line(transaction: "4", received: 127), Line(transaction: "5", received: 4000)])
    #expect(
      try ledger.table("select bucket, deliveries from latency_cell order by bucket")
        == ["0|1", "127|2", "\(LatencyBucket.of(seconds: 4000))|1"])
  }

  @Test("A latency bucket is exact below 128 seconds and within 1.6 % above")
  func latencyBuckets() {
    var last: Int64 = -1
    for seconds in Array(0..<20_000) + [86_400, 604_800, 31_536_000, Int64.max] {
      let bucket = LatencyBucket.of(seconds: seconds)
      let least = LatencyBucket.seconds(bucket)
      #expect(bucket >= last)
      #expect(least <= seconds && (seconds - least) <= seconds / 64)
      #expect(seconds >= 128 || bucket == seconds)
      last = bucket
    }
  }

  @Test("A feed begins with its first delivery and ends with its newest")
  func watermarks() throws {
    try ledger.ingest("a", [Line(app: "b", time: 50, received: 10)])
    try ledger.ingest(
      "b", [Line(app: "b", time: 20), Line(transaction: "2", app: "a", time: 30, created: 2)])
    let marks = try ledger.watermarks(asOf: .end)
    #expect(marks.map { ledger.symbols.words[Int($0.feed.app)] } == ["a", "b"])
    #expect(marks.map(\.newest) == [Line(time: 32).at, Line(time: 60).at])
    #expect(marks.map(\.begin) == [Line(time: 32).at, Line(time: 20).at])
  }

  @Test("A state without its own date counts as an event at its receipt")
  func firstOfStates() throws {
    let bought = Line(
      provider: .iaptic, kind: .observed, time: 10, received: 500, isTimeInferred: true)
    try ledger.ingest("a", [bought])
    let first = try ledger.table("select first_event_ms from archive")
    #expect(first == ["\(Line(time: 10).at.milliseconds)"])
    #expect(try ledger.watermarks(asOf: .end).map(\.begin) == [Line(time: 510).at])
    try ledger.ingest("b", [Line(provider: .iaptic, transaction: "2", time: 400)])
    #expect(try ledger.watermarks(asOf: .end).map(\.begin) == [Line(time: 400).at])
  }

  @Test("A delivery after as-of changes no watermark, whatever its hour and run")
  func later() throws {
    try ledger.ingest("a", [Line(time: 0), Line(transaction: "2", time: 90)])
    try ledger.publish()
    try ledger.ingest("b", [Line(transaction: "3", time: 60), Line(transaction: "4", time: 9000)])
    func newest(_ seconds: Int64) throws -> [Instant] {
      try ledger.watermarks(asOf: Line(time: seconds).at).map(\.newest)
    }
    #expect(try newest(9000) == [Line(time: 9000).at])
    #expect(try newest(8999) == [Line(time: 90).at])
    #expect(try newest(90) == [Line(time: 90).at])
    #expect(try newest(89) == [Line(time: 0).at], "of an hour, the first and the last are known")
    #expect(try newest(-1).isEmpty)
  }

  @Test(
    "Impossible delivery hours are damage",
    arguments: ["00", "180000", "0080dddb0100", "0000808080808080808080ff00"])
  func damagedHours(bytes: String) throws {
    try ledger.ingest("a", [Line()])
    try ledger.rows(sql: "update delivery_day set hours = x'00ffdcdb0100'") { _ in }
    #expect(try ledger.watermarks(asOf: .end).count == 1, "the last millisecond of an hour")
    try ledger.rows(sql: "update delivery_day set hours = x'\(bytes)'") { _ in }
    expect(.damagedInput) { try ledger.watermarks(asOf: .end) }
  }

  @Test("A state dated only by the end of its period does not make the input newer")
  func undated() throws {
    try ledger.ingest(
      "a", [Line(time: 50), Line(transaction: "2", time: 9_000_000, isUndated: true)])
    #expect(try ledger.watermarks(asOf: .end).map(\.newest) == [Line(time: 50).at])
    try ledger.ingest("b", [Line(app: "c", time: 9_000_000, isUndated: true)])
    #expect(try ledger.watermarks(asOf: .end).count == 1)
  }
}
