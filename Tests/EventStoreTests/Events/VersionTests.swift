import EventStore
import Testing
import Domain

@Suite("Duplicates and conflicts of one event")
struct VersionTests {
  @Test(
    "The same body twice is an exact duplicate; another body with the same content, a semantic one")
  func duplicates() throws {
    let ledger = try Ledger.fresh()
    try ledger.ingest("a", [Line()])
    let counts = try ledger.ingest("b", [Line(), Line(created: 4, body: "other")])
    #expect(counts.accepted == 0)
    #expect(counts.duplicates == 2)
    #expect(
      try ledger.table(
        """
        select delivered, distinct_events, duplicates_exact, duplicates_semantic, conflicts
        from delivery_cell
        """) == ["3|1|1|1|0"])
    #expect(try ledger.conflicts().isEmpty)
  }

  @Test("A copy inside the same batch is a duplicate")
  func withinBatch() throws {
    let ledger = try Ledger.fresh()
    let counts = try ledger.ingest("a", [Line(), Line(), Line(usd: 5)])
    #expect(counts.accepted == 2)
    #expect(counts.duplicates == 1)
    #expect(try ledger.events(ofLineage: Line().lineage).count == 1)
    #expect(try ledger.conflicts().count == 1)
  }

  @Test(
    "Of two copies, the later created gives times, body and, if it may differ, the user",
    arguments: [true, false])
  func laterCopy(isSplit: Bool) throws {
    for order in [[0, 1], [1, 0]] {
      let ledger = try Ledger.fresh()
      let copies = [
        Line(provider: .flobuk, user: "early", created: 1, received: 9, body: "x"),
        Line(provider: .flobuk, user: "late", created: 2, received: 3, body: "y"),
      ]
      if isSplit {
        for index in order { try ledger.ingest("\(index)", [copies[index]]) }
      } else {
        try ledger.ingest("both", order.map { copies[$0] })
      }
      let event = try #require(try ledger.events(ofLineage: copies[0].lineage).first)
      #expect(event.created == Line().at + .seconds(2))
      #expect(event.received == Line().at + .seconds(3))
      #expect(event.body == Fingerprint.of("y"))
      #expect(try ledger.user(ofLineage: copies[0].lineage) == "late")
      #expect(try ledger.conflicts().isEmpty)
    }
  }

  @Test(
    "A version created after its receipt, or decades later, does not win",
    arguments: [
      (Line(created: 7_200, received: 3_000), 100), (Line(created: 2_400_000_000), 100),
      (Line(created: 3_600, received: 3_000), 200), (Line(created: 86_400_000), 200),
    ] as [(Line, Int64)])
  func impossibleClock(_ line: Line, winner: Int64) throws {
    for isFirst in [true, false] {
      var doubtful = line
      doubtful.usd = 200
      let lines = [doubtful, Line(created: 5, usd: 100)]
      let ledger = try Ledger.fresh()
      for (name, line) in zip(["a", "b"], isFirst ? lines : lines.reversed()) {
        try ledger.ingest(name, [line])
      }
      let events = try ledger.events(ofLineage: line.lineage)
      #expect(events.map { $0.revenue?.usd?.micros } == [winner])
    }
  }

  @Test("Versions that differ materially are a conflict: the later created counts, all are kept")
  func conflict() throws {
    let ledger = try Ledger.fresh()
    try ledger.ingest("a", [Line(created: 5, usd: 100)])
    let counts = try ledger.ingest("b", [Line(product: "other", created: 4, usd: 200)])
    #expect(counts.accepted == 1)
    let events = try ledger.events(ofLineage: Line().lineage)
    #expect(events.map { $0.revenue?.usd?.micros } == [100])
    #expect(try ledger.table("select sum(versions) from lineage") == ["2"])
    let conflict = try #require(try ledger.conflicts().first)
    #expect(conflict.fields == ["product", "revenue_local", "revenue_usd"])
    #expect(conflict.event.transaction == 1001)
    #expect(conflict.event == events[0])
    #expect(conflict.places.map(\.archive) == [1, 2])
    #expect(try ledger.table("select sum(conflicts) from delivery_cell") == ["1"])
  }

  @Test("A different user is a conflict, except for FLOBUK, whose purchases can be shared")
  func users() throws {
    for provider in Provider.allCases {
      for order in [[0, 1], [1, 0]] {
        let ledger = try Ledger.fresh()
        let copies = [
          Line(provider: provider, user: "a", received: 1, body: "x"),
          Line(provider: provider, user: "b", received: 2, body: "y"),
        ]
        for index in order { try ledger.ingest("\(index)", [copies[index]]) }
        #expect(try ledger.user(ofLineage: copies[0].lineage) == "b")
        #expect(
          try ledger.conflicts().map(\.fields) == (provider == .flobuk ? [] : [["user"]]))
      }
    }
  }

  @Test("Another name for the same kind is not a conflict")
  func names() throws {
    let ledger = try Ledger.fresh()
    let counts = try ledger.ingest(
      "a", [Line(), Line(name: "Subscription Renewed", created: 4, body: "other")])
    #expect(counts.accepted == 1 && counts.duplicates == 1)
    #expect(try ledger.conflicts().isEmpty)
    #expect(try ledger.table("select duplicates_semantic from delivery_cell") == ["1"])
  }

  @Test("A different message of the same event is not a conflict")
  func messages() throws {
    let ledger = try Ledger.fresh()
    let copies = [Line(collection: 5), Line(received: 2, body: "other", collection: 6)]
    #expect(try ledger.ingest("a", copies).duplicates == 1)
    #expect(try ledger.conflicts().isEmpty)
  }

  @Test("One event in two lineages counts in one of them")
  func acrossLineages() throws {
    for order in [[0, 1], [1, 0]] {
      let ledger = try Ledger.fresh()
      let versions = [
        Line(original: "1000", user: "a", created: 1), Line(original: "999", user: "b", created: 2),
      ]
      for index in order { try ledger.ingest("\(index)", [versions[index]]) }
      var seen: [String] = []
      try ledger.forEachLineage { row, events in
        seen.append("\(row.original) \(try ledger.userText(row.user) ?? "") \(events.count)")
      }
      #expect(seen == ["999 b 1"])
      #expect(try ledger.lineage(versions[0].lineage)?.user == 0)
      #expect(try ledger.conflicts().map(\.fields) == [["user", "original_transaction_id"]])
      #expect(
        try ledger.lineages(ofUser: Fingerprint.of("a"), provider: .qonversion).isEmpty)
    }
  }

  @Test("Two lineages of one event in one batch are resolved as in two batches")
  func acrossLineagesInOneBatch() throws {
    let ledger = try Ledger.fresh()
    let counts = try ledger.ingest(
      "a", [Line(original: "1000", created: 1), Line(original: "999", created: 2)])
    #expect(counts.accepted == 2)
    #expect(try ledger.conflicts().count == 1)
    #expect(try ledger.table("select sum(counted) from lineage") == ["1"])
  }

  /// Copies and versions of one event that tie in every way that the contract lists.
  static let rivals: [Line] = [
    Line(user: "a", created: 5, received: 10, usd: 100, body: "1"),
    Line(user: "b", created: 5, received: 10, usd: 200, body: "2"),
    Line(user: "c", created: nil, received: 90, usd: 300, body: "3"),
    Line(original: "999", user: "d", created: 5, received: 10, usd: 100, body: "4"),
    Line(user: "e", created: 5, received: 11, usd: 200, body: "5"),
    Line(user: "f", product: "zebra", created: 5, received: 11, usd: 200, body: "6"),
  ]

  @Test("Every order of arrival, in one or many archives, gives the same content")
  func everyOrder() throws {
    let ledger = try Ledger.fresh()
    var contents: Set<[String]> = []
    // A separate app for each order, so that one ledger holds them all.
    let orders = permutations(of: Array(Self.rivals.indices)).enumerated().map { number, order in
      order.map { index in
        var line = Self.rivals[index]
        line.app = "app\(number)"
        return line
      }
    }
    for (number, lines) in orders.enumerated() where number % 35 == 0 {
      for (index, line) in lines.enumerated() { try ledger.ingest("\(number) \(index)", [line]) }
      let others = orders[number..<min(number + 35, orders.count)].dropFirst()
      try ledger.ingest("\(number)", others.flatMap(\.self))
    }
    let conflicts = try ledger.conflicts()
    #expect(conflicts.count == 720)
    for conflict in conflicts { contents.insert(try content(of: conflict, in: ledger)) }
    #expect(contents.count == 1)
    let content = try #require(contents.first)
    #expect(content.filter { $0.hasPrefix("1|") }.count == 1)
    #expect(content.last?.hasPrefix("zebra 200 ") == true)
    #expect(content.count == 3)
  }

  /// What must not depend on arrival: which versions count, users, and the counted content.
  private func content(of conflict: ConflictRow, in ledger: Ledger) throws -> [String] {
    let event = conflict.event
    let rows = try ledger.table(
      """
      select counted, original, versions, user from lineage
      where app = \(event.app) order by counted, original
      """)
    let counted = """
      \(ledger.symbols.words[Int(event.product)]) \(event.revenue?.usd?.micros ?? 0) \
      \(event.created?.text ?? "-") \(event.received?.text ?? "-") \(event.body) \
      \(conflict.fields) \(conflict.places.count)
      """
    return rows + [counted]
  }

  private func permutations(of items: [Int]) -> [[Int]] {
    guard let first = items.first else { return [[]] }
    return permutations(of: Array(items.dropFirst())).flatMap { rest in
      (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
    }
  }

  @Test("Two events that share only a fingerprint both count")
  func collision() throws {
    let ledger = try Ledger.fresh()
    try ledger.ingest("a", [Line(transaction: "1", identity: 5)])
    try ledger.ingest(
      "b",
      [
        Line(transaction: "2", identity: 5), Line(transaction: "3", time: 60, identity: 5),
        Line(transaction: "4", original: "other", identity: 5),
      ])
    #expect(try ledger.table("select sum(versions), sum(counted) from lineage") == ["4|4"])
    #expect(try ledger.conflicts().isEmpty)
    let again = try ledger.ingest("c", [Line(transaction: "2", identity: 5)])
    #expect(again.duplicates == 1)
  }

  @Test("A lineage's user is that of its newest event with a user")
  func lineageUser() throws {
    let lines = [
      Line(transaction: "1", user: "old", time: 10), Line(transaction: "2", user: "new", time: 20),
      Line(transaction: "3", user: "", time: 30), Line(transaction: "4", user: "tie", time: 20),
    ]
    var users: Set<String> = []
    for order in permutations(of: [0, 1, 2, 3]) {
      let ledger = try Ledger.fresh()
      for index in order { try ledger.ingest("\(index)", [lines[index]]) }
      users.insert(try ledger.user(ofLineage: Line().lineage) ?? "-")
    }
    #expect(users.count == 1)
    #expect(users.isSubset(of: ["new", "tie"]))
  }
}
