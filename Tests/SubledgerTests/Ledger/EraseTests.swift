import Foundation
import EventStore
import TestSupport
import Testing
import Domain

@Suite("Erasing a person changes no number")
struct EraseTests {
  /// The tables without data of persons.
  private static let numbers = [
    "revenue_cell", "movement_cell", "renewal_cell", "trial_cell", "retention_cell",
    "excluded_cell", "arrival_cell", "coverage_cell", "rate_cell", "price_cell", "closed_report",
    "published", "published_row", "published_month", "delivery_cell", "identity", "run", "run_part",
  ]

  private static let seeds: ClosedRange<Int> = {
    let longer = ProcessInfo.processInfo.environment["ERASE_SEEDS"].flatMap { Int($0) }
    return 1...(longer ?? 1)
  }()

  @Test(
    "Nothing is left of persons of any provider, and runs continue as before",
    arguments: seeds)
  func world(seed: Int) throws {
    let world = try PersonsWorld(seed: seed)
    let program = world.program
    try world.copy("l", "n")
    try world.run("n", 3)
    let persons = try world.persons()
    #expect(persons.count > 5)
    let before = try world.rows(of: Self.numbers, "l")
    let explained = try explain(program)
    #expect(explained.output.utf8.count > 2000, "\(explained)")
    var names: [String: String] = [:]
    for person in persons {
      #expect(try world.spellings(of: person, "l") > 0, "\(person)")
      let result = try program.run([
        "erase", person, "--ledger", "l.sqlite", "--reason", "request 7", "--who", "dpo",
      ])
      try #require(result.status == 0, "\(person) \(result)")
      #expect(!result.output.contains(person) && !result.errors.contains(person))
      names[person] = String(result.output.prefix { $0 != " " })
    }
    #expect(try world.rows(of: Self.numbers.dropLast(2), "l") == before.dropLast(2))
    #expect(try world.rows(of: ["run", "run_part"], "l") == Array(before.suffix(2)))
    for person in persons { #expect(try world.spellings(of: person, "l") == 0, "\(person)") }

    let renamed = names.reduce(explained.output) {
      Redaction(id: $1.key, name: $1.value).applied(to: $0)
    }
    // Events of the same moment are sorted by subscription, and those have other names now.
    #expect(try sortedLines(explain(program).output) == sortedLines(renamed))

    let verified = try program.run(["verify", "--ledger", "l.sqlite", "--out", "l", "--replay"])
    #expect(verified.status == 0, "\(verified)")
    #expect(verified.output.contains("persons were erased since"))
    #expect(verified.output.contains("ids in the archives that were erased from the ledger"))
    let reported = try program.run([
      "report", "--at-run", "1", "--ledger", "l.sqlite", "--out", "again",
    ])
    #expect(
      [0, 1].contains(reported.status) && reported.errors.contains("erased since"), "\(reported)")

    let pack = ["pack", "2025-03", "--ledger", "l.sqlite", "--out", "p.tar.gz"]
    let early = try program.run(pack)
    #expect(early.status == 75 && early.errors.contains("erased since"), "\(early)")

    try world.run("l", 3)
    try #require(try program.run(pack).status == 0)
    #expect(try program.run(["verify", "--pack", "p.tar.gz"]).status == 0)
    #expect(try world.isSame("n", "l", names), "seed \(seed)")
    for person in persons { #expect(try world.spellings(of: person, "l") == 0, "\(person)") }
    try program.run(["verify", "--ledger", "l.sqlite", "--out", "l"]).ended(0)
  }

  private func sortedLines(_ text: String) -> [Substring] { text.split(separator: "\n").sorted() }

  /// Explains all revenue of a month.
  private func explain(_ program: Program) throws -> ProgramResult {
    try program.run(
      ["explain", "revenue_monthly", "period=2025-03", "net_usd"] + [
        "--ledger", "l.sqlite", "--as-of", "2025-07-02T12:00:00Z",
      ])
  }
}

@Suite("Erase can be refused, repeated and interrupted safely")
struct EraseCommandTests {
  private let program: Program

  /// Forty persons and their reports, created once and copied for each test.
  private static let published = Result {
    let program = try Program()
    try program.folder.write(bodies(40), to: "in/1.jsonl")
    try program.run(["run", "--archives", "in", "--as-of", "2026-05-01"]).ended(0, 1)
    return program
  }

  init() throws { program = try Program(copying: Self.published.get()) }

  private func erase(_ user: String, reason: String = "request 7") throws -> ProgramResult {
    try program.run(["erase", user, "--reason", reason])
  }

  @Test("An unknown person, or one named in the reason, is not erased, and the id is not printed")
  func refused() throws {
    let unknown = try erase("QON_unknown").ended(66)
    #expect(unknown.errors.contains("no events of this user"))
    #expect(!unknown.errors.contains("QON_unk"))
    let named = try erase("QON_7", reason: "QON_7 wants it")
    #expect(named.status == 64 && !named.errors.contains("QON_7"), "\(named)")
    #expect(try erase("QON_7", reason: " ").status == 64)
    #expect(try program.run(["erase", "QON_7"]).status == 64)
    try FileManager.default.removeItem(atPath: program.folder.path("subledger.sqlite"))
    #expect(try erase("QON_7").status == 66)
  }

  @Test("While a run holds the lock, erase ends with 75 and changes nothing")
  func busy() throws {
    let path = program.folder.path("subledger.sqlite")
    let lock = try LedgerLock.acquire(ledgerPath: path, waitSeconds: 0)
    #expect(try erase("QON_7").status == 75)
    withExtendedLifetime(lock) {}
    #expect(try Ledger.open(path: path, mode: .readOnly).acts().isEmpty)
  }

  @Test("A repeated erase reports that and leaves the ledger unchanged")
  func again() throws {
    let first = try erase("QON_7")
    #expect(first.status == 0 && first.output.contains("1 purchase, 1 event"), "\(first)")
    let name = String(first.output.prefix { $0 != " " })
    for user in ["QON_7", name] {
      let second = try erase(user).ended(0)
      #expect(second.output.hasPrefix("\(name): the person was erased before"), "\(second)")
    }
    let ledger = try Ledger.open(path: program.folder.path("subledger.sqlite"), mode: .readOnly)
    #expect(try ledger.acts().map(\.action) == [.erase])
    #expect(try ledger.acts()[0].reason == "request 7")
  }

  @Test("Erase reports names and settings that contain the id, but not a longer id")
  func elsewhere() throws {
    var body = Body(41)
    body.members["product_id"] = "\"made.for.QON_7\""
    try program.folder.write(body.line + "\n", to: "in/2.jsonl")
    try program.folder.write("periods: {made.for.QON_7: P1M}\n", to: "subledger.yaml")
    let prices =
      "store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,period\n"
      + "app_store,QON_7,US,USD,2026-01-01,1,1,70,\n"
    try program.folder.write(prices, to: "prices.csv")
    let run = ["run", "--archives", "in", "--as-of", "2026-05-02", "--prices", "prices.csv"]
    #expect(try program.run(run).status <= 1)
    let person = try erase("QON_7").ended(0)
    #expect(person.output.contains("1 name of apps, products or events held the id"), "\(person)")
    #expect(person.output.contains("2 files of settings (configuration, price book)"), "\(person)")
    let again = try erase("QON_7")
    #expect(again.output.contains("and nothing is left\n1 name of apps"), "\(again)")
    let other = try erase("QON_4")
    #expect(!other.output.contains("held the id"), "\(other)")
  }

  @Test(
    "A later change in rewritten data is reported",
    arguments: [
      ("update erased set pseudonym = 'erased-0'", "erased: some of the"),
      ("delete from erased", "erased: run 1 wrote 1 rows, but 0 exist"),
      ("update act set reason = 'another'", "act 1 was changed since it was written"),
      ("update act set content = content || '1'", "act 1 was changed since it was written"),
      ("delete from act", "erased: run 1 wrote 0 rows, but 1 exist"),
      ("update user set id = 'QON_7' where id like 'erased-%'", "does not have the key"),
    ])
  func changed(sql: String, reported: String) throws {
    #expect(try erase("QON_7").status == 0)
    let ledger = try Ledger.open(path: program.folder.path("subledger.sqlite"), mode: .readWrite)
    try ledger.rows(sql: sql) { _ in }
    try ledger.checkpoint()
    let result = try program.run(["verify"]).ended(65)
    #expect(result.output.contains(reported), "\(result)")
  }

  @Test("An erase killed at any moment has happened or not, and can be repeated")
  func killed() throws {
    let path = program.folder.path("subledger.sqlite")
    let whole = try ContinuousClock().measure { _ = try erase("QON_20") }
    var happened: [Bool] = []
    for number in 1...12 {
      let user = "QON_\(20 + number)"
      let process = try program.start(["erase", user, "--reason", "request"])
      // Killed at once, then at moments over the whole duration; the last one completes.
      usleep(UInt32(whole / .microseconds(1)) * UInt32(number - 1) / 8)
      if number < 12 { kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
      let acts = try Ledger.open(path: path, mode: .readOnly).acts().count
      #expect([number, number + 1].contains(acts))
      happened.append(acts > number)
      try program.run(["verify"]).ended(0)
      #expect(try erase(user).status == 0)
      #expect(try Ledger.open(path: path, mode: .readOnly).acts().count == number + 1)
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(bytes.range(of: Data(user.utf8)) == nil)
    }
    #expect(happened.first == false && happened.last == true, "\(happened)")
  }
}
