import EventStore
import TestSupport
import Testing
import Domain

@Suite("Writing several archives together")
struct WriteBatchTests {
  /// Lines of few lineages and users with copies, conflicts and rival lineages.
  static let lines: [Line] = (0..<600).map { number in
    var line = Line(
      transaction: "\(number % 150)", original: "o\(number % 23)", user: "u\(number % 11)",
      time: Int64(number % 150) * 60)
    if number % 7 == 0 { line.created = Int64(number) }
    if number % 31 == 0 { line.product = "other" }
    if number % 5 == 0 { line.body = "body \(number)" }
    return line
  }

  /// What does not depend on the order of arrival: counted events by lineage, and conflicts.
  private func content(of ledger: Ledger) throws -> [String] {
    var content: [String] = []
    try ledger.forEachLineage { row, events in
      content.append("\(row.original) \(try ledger.userText(row.user) ?? "")")
      for event in events {
        let product = ledger.symbols.words[Int(event.product)]
        content.append("\(event.identity) \(event.body) \(product) \(event.created?.text ?? "-")")
      }
    }
    for conflict in try ledger.conflicts() {
      content.append("\(conflict.event.identity) \(conflict.fields) \(conflict.places.count)")
    }
    return content
  }

  /// The counts of an intake, and whether anything was spilled.
  private struct Taken {
    var counts: [ArchiveCounts] = []
    var wasSpilled = false
  }

  /// Ingests the lines as archives of `size` lines with `batchSize` bytes of memory and up to
  /// `spillSize` bytes of spill files.
  private func take(
    _ lines: [Line], size: Int, batchSize: Int, spillSize: Int = 1 << 30, into ledger: Ledger
  ) throws -> Taken {
    let intake = EventIntake(into: ledger, batchSize: batchSize, spillSize: spillSize)
    var taken = Taken()
    for start in stride(from: 0, to: lines.count, by: size) {
      try intake.begin(.named("\(lines.count) \(lines.first?.transaction ?? "") \(start)"))
      let part = Array(lines[start..<min(start + size, lines.count)])
      for half in [part[..<(part.count / 2)], part[(part.count / 2)...]] {
        try intake.add(.of(Array(half)))
        if try ledger.table("select count(*) from temp.sqlite_schema") != ["0"] {
          taken.wasSpilled = true
        }
      }
      taken.counts += try intake.finish()
    }
    taken.counts += try intake.write()
    return taken
  }

  @Test(
    "Archives written singly, together, in parts or spilled give the same counts and content",
    arguments: [600, 100, 37])
  func sizes(size: Int) throws {
    var counts: Set<[Int64]> = []
    var contents: Set<[String]> = []
    var wasSpilled: [Bool] = []
    // Written at once; spilled with enough room, some room, and no room; in memory.
    for (batchSize, spillSize) in [
      (0, 0), (60_000, 1 << 30), (60_000, 20_000), (60_000, 1), (64 << 20, 0),
    ] {
      let ledger = try Ledger.fresh()
      let taken = try take(
        Self.lines, size: size, batchSize: batchSize, spillSize: spillSize, into: ledger)
      wasSpilled.append(taken.wasSpilled)
      counts.insert(taken.counts.flatMap { [$0.lines, $0.accepted, $0.duplicates] })
      contents.insert(try content(of: ledger))
      #expect(
        try ledger.table("select sum(delivered), sum(distinct_events) from delivery_cell").count
          == 1)
    }
    #expect(wasSpilled == [true, true, true, true, false])
    #expect(counts.count == 1)
    #expect(contents.count == 1)
    #expect(try #require(contents.first).count > 150)
  }

  @Test("Spilled events reach their lineages completely and leave nothing behind")
  func spilled() throws {
    let ledger = try Ledger.fresh()
    #expect(try take(Self.lines, size: 37, batchSize: 60_000, into: ledger).wasSpilled)
    #expect(try ledger.table("select count(*), sum(versions) >= 150 from lineage") == ["23|1"])
    #expect(try ledger.table("select count(*) from temp.sqlite_schema") == ["0"])
  }

  @Test("A subscription larger than one read is read completely, with copies and versions")
  func large() throws {
    // Copies and versions of an event are thousands of events apart.
    let lines = (0..<12_000).map { number in
      var line = Line(
        transaction: "\(number % 5_000)", original: "o\(number % 97 == 0 ? 1 : 0)",
        time: Int64(number * 7 % 5_000) * 60)
      if number % 13 == 0 { line.created = Int64(number) }
      if number % 17 == 0 { line.body = "body \(number)" }
      if number % 211 == 0 { line.product = "other" }
      return line
    }
    let copies = (0..<9_000).map {
      Line(transaction: "c", created: Int64($0 % 4_500), body: "\($0)")
    }
    var counts: Set<[Int64]> = []
    var contents: Set<[String]> = []
    for batchSize in [64 << 20, 1 << 20, 300_000] {
      let ledger = try Ledger.fresh()
      let taken = try take(lines + copies, size: 21_000, batchSize: batchSize, into: ledger)
      #expect(taken.wasSpilled == (batchSize < 64 << 20))
      counts.insert(
        taken.counts.flatMap { [$0.accepted, $0.duplicates] }
          + (try ledger.table(
            """
            select sum(duplicates_exact), sum(duplicates_semantic), sum(conflicts)
            from delivery_cell
            """)).flatMap { $0.split(separator: "|").compactMap { Int64($0) } })
      contents.insert(try content(of: ledger))
    }
    #expect(counts.count == 1)
    #expect(contents.count == 1)
    #expect(try #require(contents.first).count > 5_000)
  }

  @Test("The same lines in another order and in other archives give the same content")
  func orders() throws {
    var contents: Set<[String]> = []
    for (size, step) in [(600, 1), (600, 7), (50, 11), (200, 599)] {
      let ledger = try Ledger.fresh()
      let lines = Self.lines.indices.map { Self.lines[$0 * step % Self.lines.count] }
      _ = try take(lines, size: size, batchSize: 60_000, into: ledger)
      contents.insert(try content(of: ledger))
    }
    #expect(contents.count == 1)
  }

  @Test("An abandoned archive leaves waiting archives intact and nothing of its own")
  func givenUp() throws {
    for batchSize in [0, 8_000, 64 << 20] {
      let ledger = try Ledger.fresh()
      let intake = EventIntake(into: ledger, batchSize: batchSize)
      try intake.begin(.named("a"))
      try intake.add(.of([Line()]))
      var counts = try intake.finish()
      #expect(try intake.isKnown(sha256: "sha of a"))
      try intake.begin(.named("b"))
      try intake.add(
        .of([Line(transaction: "7", user: "u7", product: "p7"), Line(user: "u8", created: 9)]))
      intake.abandon()
      #expect(try !intake.isKnown(sha256: "sha of b"))
      counts += try intake.write()
      #expect(counts.map(\.accepted) == [1])
      #expect(try ledger.table("select name from archive") == ["a"])
      #expect(try ledger.table("select id from user") == ["user-1"])
      #expect(try ledger.table("select value from string where value = 'p7'").isEmpty)
      #expect(try ledger.events(ofLineage: Line().lineage).map(\.created) == [nil])
      _ = try take([Line(transaction: "8", product: "p8")], size: 1, batchSize: 0, into: ledger)
      #expect(try ledger.table("select count(*) from string where value = 'p8'") == ["1"])
    }
  }

  @Test("Nothing of an archive is stored before it is written, and everything afterwards")
  func crash() throws {
    let folder = try TemporaryFolder()
    do {
      let ledger = try Ledger.fresh(in: folder)
      let intake = EventIntake(into: ledger, batchSize: 0)
      try intake.begin(.named("a"))
      try intake.add(.of([Line()]))
      #expect(try Ledger.open(path: ledger.path, mode: .readOnly).contents().isEmpty)
      _ = try intake.finish()
      try intake.begin(.named("b"))
      try intake.add(.of([Line(transaction: "2")]))
    }
    let ledger = try Ledger.open(path: folder.path("ledger.sqlite"), mode: .readWrite)
    #expect(try ledger.contents() == ["sha of a"])
    #expect(try ledger.events(ofLineage: Line().lineage).count == 1)
  }

  @Test("Thousands of identities are found again in another lineage, despite other input between")
  func manyIdentities() throws {
    let ledger = try Ledger.fresh()
    let lines = (0..<6000).map { Line(transaction: "\($0)", original: "o\($0 % 40)") }
    for part in [0..<3000, 3000..<3010, 3010..<6000] {
      _ = try take(Array(lines[part]), size: 3000, batchSize: 64 << 20, into: ledger)
    }
    #expect(try ledger.table("select count(*) >= 6 from identity") == ["1"])
    var rivals = stride(from: 0, to: 6000, by: 500).map { lines[$0] }
    for index in rivals.indices { rivals[index].original = "elsewhere" }
    let taken = try take(rivals, size: 100, batchSize: 64 << 20, into: ledger)
    #expect(taken.counts.map(\.accepted) == [12])
    #expect(try ledger.conflicts().count == 12)
    #expect(try ledger.table("select sum(versions), sum(counted) from lineage") == ["6012|6000"])
  }

  @Test("Rows of a new ledger can be built by any worker at any time before they are written")
  func madeAhead() throws {
    // More lineages than one piece holds, some with copies and rivals in others.
    let lines = (0..<4500).map { number in
      var line = Line(transaction: "\(number % 3000)", original: "o\(number % 2500)")
      line.user = "u\(number % 700)"
      if number % 450 == 0 { line.product = "other" }
      return line
    }
    var contents: Set<[String]> = []
    var pieces: [Int] = []
    for (isHandedOut, isAhead) in [(false, false), (true, false), (true, true)] {
      let ledger = try Ledger.fresh()
      let intake = EventIntake(into: ledger)
      try intake.begin(.named("a"))
      try intake.add(.of(lines))
      _ = try intake.finish()
      let parts = isHandedOut ? try intake.pieces() : []
      pieces.append(parts.count)
      if isAhead {
        for rows in try parts.reversed().map({ try $0() }).reversed() {
          try intake.write(rows)
        }
      } else {
        try parts.forEach { try intake.write($0()) }
      }
      let counts = try intake.write()
      contents.insert(
        try content(of: ledger) + counts.map { "\($0.accepted) \($0.duplicates)" })
    }
    #expect(pieces == [0, 3, 3])
    #expect(contents.count == 1)
  }

  @Test("If the rows of a new ledger cannot be built, nothing of its archives is stored")
  func notMade() throws {
    let ledger = try Ledger.fresh()
    let intake = EventIntake(into: ledger)
    try intake.begin(.named("a"))
    try intake.add(.of((0..<3000).map { Line(transaction: "\($0)", original: "o\($0)") }))
    _ = try intake.finish()
    try intake.write(try intake.pieces()[0]())
    intake.abandon()
    #expect(try intake.write().isEmpty)
    #expect(try ledger.table("select count(*) from lineage") == ["0"])
    #expect(try ledger.contents().isEmpty)
    let indexes = try ledger.table(
      "select count(*) from sqlite_schema where name = 'lineage_by_user'")
    #expect(indexes == ["1"])
  }
}
