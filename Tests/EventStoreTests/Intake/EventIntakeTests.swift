import EventStore
import TestSupport
import Testing
import Domain

@Suite("Ingesting events into the ledger")
struct EventIntakeTests {
  let folder: TemporaryFolder
  let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
  }

  @Test("An event is read back with every field")
  func roundTrip() throws {
    var batch = EventBatch.of([Line()])
    var event = batch.events[0]
    event.previousProduct = batch.symbols.symbol("pro.yearly")
    event.country = batch.symbols.symbol("DE")
    event.storefront = batch.symbols.symbol("DEU")
    event.created = event.time + .seconds(3)
    event.received = event.time - .seconds(1)
    event.graceEnd = event.time + Interval(milliseconds: 1)
    event.entitledUntil = event.time + .days(400)
    event.revenue = Revenue(
      local: Amount(micros: -1), usd: nil, currency: batch.symbols.symbol("EUR"), isProceed: true,
      rate: Amount(micros: 85_000_000))
    event.price = Price(local: nil, usd: Amount(micros: 7), currency: 0)
    event.renewalCount = 12
    event.reason = .involuntary
    event.observation = Observation.full(group: batch.symbols.symbol("plans"), at: event.time)
    event.collection = -5
    batch.events[0] = event
    let words = batch.symbols.words
    let ingest = try ledger.beginEvents(.named("a"))
    try ingest.add(batch)
    _ = try ingest.finish()

    var read: [Event] = []
    var rows: [LineageRow] = []
    try ledger.forEachLineage { row, events in
      rows.append(row)
      read += events
    }
    func symbol(_ batchSymbol: StringID) throws -> StringID {
      try #require(ledger.symbol(words[Int(batchSymbol)]))
    }
    event.app = try symbol(event.app)
    event.product = try symbol(event.product)
    event.previousProduct = try symbol(event.previousProduct)
    event.name = try symbol(event.name)
    event.country = try symbol(event.country)
    event.storefront = try symbol(event.storefront)
    let currency = try symbol(event.revenue?.currency ?? 0)
    event.revenue?.currency = currency
    let group = try symbol(event.observation?.group ?? 0)
    event.observation?.group = group
    event.place.archive = ingest.archive
    #expect(read == [event])
    #expect(rows.count == 1)
    #expect(rows[0].original == "1000")
    #expect(try ledger.userText(rows[0].user) == "user-1")
    #expect(ledger.symbols.words[Int(rows[0].app)] == "app")
  }

  @Test("An event without optional fields is read back without them")
  func bare() throws {
    try ledger.ingest("a", [Line(user: "", usd: nil)])
    let event = try #require(try ledger.events(ofLineage: Line().lineage).first)
    #expect(event.revenue == nil)
    #expect(event.price == nil)
    #expect(event.created == nil)
    #expect(event.received == nil)
    #expect(event.renewalCount == nil)
    #expect(event.reason == nil)
    #expect(event.user == 0)
    #expect(try ledger.user(ofLineage: Line().lineage) == "")
  }

  @Test(
    "Transaction ids of every form are read back unchanged",
    arguments: [
      "42", "0", "007", "123456789012345678", "1234567890123456789", "GPA.3313-5022..0", "", "１",
    ])
  func transactionTexts(id: String) throws {
    let line = Line(transaction: id, original: id.isEmpty ? "x" : id)
    try ledger.ingest("a", [line])
    let row = try #require(try ledger.lineage(line.lineage))
    #expect(try ledger.versions(ofLineage: row).first?.transaction == id)
    #expect(try ledger.events(ofLineage: line.lineage).first?.transaction == transactionKey(id))
    #expect(row.original == line.original)
  }

  @Test("Lineages are read by key and their events by time, whatever the order of arrival")
  func order() throws {
    let lines = (0..<40).map { number in
      Line(
        transaction: "\(number)", original: "o\(number % 7)", time: Int64(number * 37 % 40))
    }
    try ledger.ingest("a", Array(lines[..<15]))
    try ledger.ingest("b", Array(lines[15...].reversed()))
    var keys: [Int64] = []
    var count = 0
    try ledger.forEachLineage { row, events in
      keys.append(row.key)
      count += events.count
      #expect(events.map(\.time) == events.map(\.time).sorted())
      #expect(events.allSatisfy { $0.lineage == row.key })
    }
    #expect(keys == keys.sorted())
    #expect(keys.count == 7)
    #expect(count == 40)
    var half: [Int64] = []
    try ledger.forEachLineage(keys: keys[3]...Int64.max) { row, _ in half.append(row.key) }
    #expect(half == Array(keys[3...]))
  }

  @Test("Symbols that two batches number differently get one number in the ledger")
  func symbols() throws {
    try ledger.ingest("a", [Line(app: "one", product: "p")])
    try ledger.ingest("b", [Line(transaction: "2", app: "p", product: "one")])
    #expect(try ledger.table("select count(*) from string where value in ('one', 'p')") == ["2"])
    let line = Line(transaction: "2", app: "p")
    let event = try #require(try ledger.events(ofLineage: line.lineage).first)
    #expect(ledger.symbols.words[Int(event.product)] == "one")
    #expect(ledger.symbols.words[Int(event.app)] == "p")
  }

  @Test("Ingested events and symbols persist after reopening")
  func reopening() throws {
    try ledger.ingest("a", [Line()])
    let again = try Ledger.open(path: ledger.path, mode: .readOnly)
    #expect(again.symbols.words == ledger.symbols.words)
    #expect(
      try again.events(ofLineage: Line().lineage) == ledger.events(ofLineage: Line().lineage))
  }

  @Test("An abandoned or interrupted archive leaves nothing behind")
  func abandoned() throws {
    try ledger.ingest("a", [Line()])
    let words = ledger.symbols.words
    func content() throws -> [String] {
      try ["lineage", "user", "string", "archive", "identity", "delivery_cell"].map {
        try "\($0) \(ledger.table("select count(*) from \($0)"))"
      }
    }
    let before = try content()
    let other = Line(transaction: "7", original: "7", user: "u7", product: "new.product")
    let first = try ledger.beginEvents(.named("b"))
    try first.add(.of([other]))
    first.abandon()
    #expect(try content() == before)
    do {
      let second = try ledger.beginEvents(.named("b"))
      try second.add(.of([other]))
    }
    #expect(try content() == before)
    #expect(ledger.symbols.words == words)
    #expect(try ledger.ingest("b", [other]).accepted == 1)
    #expect(try ledger.events(ofLineage: other.lineage).count == 1)
  }

  @Test("A batch that cannot be added undoes its whole archive")
  func failing() throws {
    let ingest = try ledger.beginEvents(.named("a"))
    try ingest.add(.of([Line()]))
    var broken = EventBatch.of([Line(transaction: "9", original: "9", user: "someone")])
    broken.events[0].lineage = Line().lineage
    expect(.damagedInput) {
      try ingest.add(broken)
      _ = try ingest.finish()
    }
    #expect(try ledger.table("select count(*) from lineage") == ["0"])
    #expect(try ledger.table("select count(*) from archive") == ["0"])
    #expect(try ledger.ingest("a", [Line()]).accepted == 1)
  }

  @Test("A lineage key shared by two subscriptions is refused")
  func lineageCollision() throws {
    try ledger.ingest("a", [Line()])
    var batch = EventBatch.of([Line(transaction: "5", original: "other")])
    batch.events[0].lineage = Line().lineage
    let error = expect(.damagedInput) { try ledger.ingest("b", batch) }
    #expect(error?.description.contains("other") == false)
  }

  @Test("Input larger than one write arrives completely, and its duplicates are found")
  func manyBatches() throws {
    let ingest = try ledger.beginEvents(.named("a"))
    for batch in 0..<9 {
      // Every batch begins with the last line of the previous one.
      let numbers = (batch * 4095)...(batch * 4095 + 4095)
      try ingest.add(.of(numbers.map { Line(transaction: "\($0)", original: "o\($0 % 50)") }))
    }
    let counts = try ingest.finish()
    #expect(counts.lines == 9 * 4096)
    #expect(counts.duplicates == 8)
    #expect(try ledger.table("select sum(versions), sum(counted) from lineage") == ["36856|36856"])
    let again = try ledger.beginEvents(.named("b"))
    for _ in 0..<10 { try again.add(.of((0..<4000).map { Line(transaction: "x\($0)") })) }
    let copies = try again.finish()
    #expect(copies.accepted == 4000)
    #expect(copies.duplicates == 36_000)
  }

  @Test("An event with damaged content is refused rather than guessed")
  func damagedContent() throws {
    try ledger.ingest("a", [Line()])
    for content in ["x'01'", "events || x'00'", "substr(events, 1, length(events) - 1)"] {
      try ledger.rows(sql: "update lineage set events = cast(\(content) as blob)") { _ in }
      expect(.damagedInput) { try ledger.events(ofLineage: Line().lineage) }
    }
  }
}

extension Observation {
  /// A state in which every field differs from an empty state's.
  static func full(group: StringID, at time: Instant) -> Observation {
    var state = Observation()
    state.productType = .oneTime
    state.isOwned = false
    state.isAutoRenewing = true
    state.autoRenewChangedAt = time - .days(3)
    state.isInBillingRetry = false
    state.isTrial = true
    state.isPending = true
    state.isReplaced = true
    state.isShared = true
    state.firstPurchasedAt = time - Interval(milliseconds: 1)
    state.lastChargedAt = time + .seconds(1)
    state.group = group
    state.isUndated = true
    state.isTimeInferred = true
    return state
  }
}
