import EventStore
import Foundation
import TestSupport
import Testing
import Domain

@Suite("Lines of a gzip member with a wrong checksum count until a good file arrives")
struct WrongChecksumTests {
  private let program: Program

  init() throws { program = try Program() }

  /// One member that stores `text` uncompressed, so that a flipped bit changes only itself.
  private func member(_ text: String) throws -> [UInt8] {
    let trailer = try gzip("-nc", program.folder.write(text, to: "unpacked")).suffix(8)
    let count = UInt16(text.utf8.count)
    let sizes = [count, ~count].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1] + sizes + Array(text.utf8) + trailer
  }

  /// The bytes with the lowest bit flipped in the first byte of `text`.
  private func flipped(_ bytes: [UInt8], at text: String) throws -> [UInt8] {
    let place = try #require(Data(bytes).range(of: Data(text.utf8)))
    var wrong = bytes
    wrong[place.lowerBound] ^= 1
    return wrong
  }

  private func body(_ number: Int, at time: Int, app: String = "1234567890") -> String {
    var body = Body(number, at: time)
    body.members["app_id"] = "\"\(app)\""
    return body.line + "\n"
  }

  private static let (january, february, april) = (1_768_000_000, 1_772_193_600, 1_777_590_000)

  private func write(_ archive: [UInt8], to name: String = "in/a.gz") throws {
    let folder = name.prefix { $0 != "/" }
    let later = ["1234567890", "other"].map { body($0.count, at: Self.april, app: $0) }
    try program.folder.write(later.joined(), to: "\(folder)/later.jsonl")
    try program.folder.write(archive, to: name)
  }

  @discardableResult
  private func run(_ archives: String = "in", _ out: String = "reports") throws -> ProgramResult {
    try program.run([
      "run", "--archives", archives, "--as-of", "2026-05-01", "--ledger", "\(out).sqlite",
      "--out", out,
    ]).ended(0, 1)
  }

  /// Months and apps whose revenue can still change.
  private func incomplete() throws -> Set<String> {
    Set(
      try program.rows("revenue_monthly.csv").filter { $0["is_complete"] == "false" }
        .map { "\($0["period"] ?? "") \($0["app_id"] ?? "")" })
  }

  /// Whether the ledger equals one that read only the complete file.
  private func isSame(asOf archive: [UInt8]) throws -> Bool {
    try write(archive, to: "whole/a.gz")
    try run("whole", "whole-set")
    func set(_ out: String) throws -> [String: Data] {
      try timeless(program, out, withResolved: false, withPlaces: true)
        .merging(program.published(in: out).filter { $0.key.hasPrefix("deliveries_daily") }) { $1 }
    }
    return try differences(set("reports"), set("whole-set")).isEmpty
  }

  @Test(
    "Rows from a member with a flipped bit are incomplete, and a good file corrects them",
    arguments: ["2000000900000001", "9.99,\"value_usd"])
  func flippedBit(place: String) throws {
    let whole = try member(body(1, at: Self.february))
    try write(flipped(whole, at: place))
    let first = try run()
    #expect(first.errors.contains("but those from byte 0 of the inflated file may be wrong"))
    #expect(try incomplete() == ["2026-02 1234567890", "2026-04 1234567890", "2026-04 other"])
    try write(whole)
    let second = try run()
    #expect(
      second.status == 0 && second.errors.contains("is retracted: the whole file has arrived"))
    #expect(try incomplete() == ["2026-04 1234567890", "2026-04 other"])
    #expect(try isSame(asOf: whole))
    let inputs = try program.rows("inputs.csv").filter { $0["archive"] == "a.gz" }
    #expect(Set(inputs.map { $0["retracted"] }) == ["0", "1"])
    let acts = try Ledger.open(path: program.folder.path("reports.sqlite"), mode: .readOnly).acts()
    #expect(acts.map(\.action) == [.retract] && acts.map(\.who) == ["subledger"])
    try program.run([
      "verify", "--replay", "--ledger", "reports.sqlite", "--out", "reports",
    ]).ended(0)
    #expect(try run().errors.isEmpty)
  }

  @Test("If only the checksum was wrong, later copies of the file are accepted as the same")
  func wrongChecksum() throws {
    let text = body(1, at: Self.february)
    var wrong = try member(text)
    wrong[wrong.count - 8] ^= 1
    try write(wrong)
    try run()
    try write(member(text))
    #expect(try run().errors.contains("is retracted: the whole file has arrived"))
    try write(Array(gzip("-nc", program.folder.path("unpacked"))), to: "in/copy.gz")
    let result = try run()
    #expect(!result.errors.contains("retracted"), "\(result)")
    let copy = try program.rows("inputs.csv").first { $0["archive"]?.contains("copy.gz") == true }
    #expect(copy?["status"] == "complete" && copy?["retracted"] == "0", "\(copy ?? [:])")
  }

  @Test("Members with a valid checksum keep their rows complete, and other apps keep theirs")
  func twoMembers() throws {
    let good = try member(body(1, at: Self.january) + body(2, at: Self.february, app: "other"))
    let bad = try member(body(3, at: Self.february))
    try write(good + flipped(bad, at: "2000000900000003"))
    try run()
    #expect(try incomplete() == ["2026-02 1234567890", "2026-04 1234567890", "2026-04 other"])
    try write(good + bad + member(body(4, at: Self.february)))
    try run()
    #expect(try incomplete() == ["2026-04 1234567890", "2026-04 other"])
    #expect(try isSame(asOf: good + bad + member(body(4, at: Self.february))))
  }

  @Test("A longer file is read from the start, because its beginning may be wrong")
  func longer() throws {
    let bad = try flipped(member(body(1, at: Self.february)), at: "2000000900000001")
    try write(bad)
    try run()
    try write(bad + [UInt8](repeating: 0, count: 9))
    try run()
    let inputs = try program.rows("inputs.csv").filter { $0["archive"] == "a.gz" }
    #expect(inputs.map { $0["lines"] } == ["1", "1"])
  }

  @Test("A line from a good member into a bad one may be wrong, too")
  func acrossMembers() throws {
    let (text, next) = (body(1, at: Self.february), body(2, at: Self.april))
    let good = try member(body(5, at: Self.january) + text.prefix(200))
    try write(good + flipped(try member(text.dropFirst(200) + next), at: "2000000900000001"))
    try run()
    #expect(try incomplete().contains("2026-02 1234567890"))
    #expect(try !incomplete().contains("2026-01 1234567890"))
  }

  @Test("A truncated file is not doubtful, and a complete file adds the rest")
  func cutOff() throws {
    let whole = try member(body(1, at: Self.january) + body(2, at: Self.february))
    try write(Array(whole.dropLast(300)))
    let first = try run()
    #expect(first.errors.contains("is damaged") && !first.errors.contains("may be wrong"))
    #expect(try incomplete() == ["2026-04 1234567890", "2026-04 other"])
    try write(whole)
    #expect(try run().errors.isEmpty)
    let acts = try Ledger.open(path: program.folder.path("reports.sqlite"), mode: .readOnly).acts()
    #expect(acts.isEmpty)
    #expect(try isSame(asOf: whole))
  }

  @Test("Another file under the same name does not replace it")
  func rotated() throws {
    let whole = try member(body(1, at: Self.february))
    try write(flipped(whole, at: "2000000900000001"))
    try run()
    try write(member(body(2, at: Self.february) + body(3, at: Self.february)))
    #expect(try !run().errors.contains("is retracted"))
    #expect(try incomplete().contains("2026-02 1234567890"))
  }

  @Test("While other archives are missing the member still counts, and the run reports it")
  func missing() throws {
    let whole = try member(body(1, at: Self.february))
    try write(flipped(whole, at: "2000000900000001"))
    try run()
    try write(whole)
    let (path, away) = (program.folder.path("in/later.jsonl"), program.folder.path("later.jsonl"))
    try FileManager.default.moveItem(atPath: path, toPath: away)
    let result = try run()
    #expect(result.status == 1 && result.errors.contains("missing: later.jsonl"), "\(result)")
    #expect(try incomplete().contains("2026-02 1234567890"))
    try FileManager.default.moveItem(atPath: away, toPath: path)
    #expect(try run().errors.contains("is retracted"))
    #expect(try isSame(asOf: whole))
  }

  @Test("The row of a charge that a state of such a member reports later is incomplete")
  func chargeBeforeItsState() throws {
    func state(_ user: String, bought: String, renewed: String? = nil, at told: String) -> String {
      let renewal = renewed.map { "\"lastRenewalDate\":\"\($0)T00:00:00.000Z\"," } ?? ""
      return """
        {"receivedAt":"\(told)T00:00:10Z","body":{"type":"purchases.updated",\
        "applicationUsername":"\(user)","password":"x","purchases":{"apple:m":{\
        "productId":"apple:m","purchaseId":"apple:\(user)","transactionId":"apple:\(user)",\
        "platform":"apple","sandbox":false,"purchaseDate":"\(bought)T00:00:00.000Z",\(renewal)\
        "expirationDate":"2027-01-01T00:00:00.000Z","isExpired":false,\
        "renewalIntentChangeDate":"\(told)T00:00:00.000Z"}}}}

        """
    }
    let known = ["2025-11-02", "2026-01-02"].map { state(String($0.prefix(7)), bought: $0, at: $0) }
    try program.folder.write(known.joined(), to: "in/known.jsonl")
    var wrong = try member(
      state("2", bought: "2026-01-20", at: "2026-03-01")
        + state("3", bought: "2025-11-20", renewed: "2026-01-20", at: "2026-03-01"))
    wrong[wrong.count - 8] ^= 1
    try write(wrong)
    try run()
    #expect(try incomplete().contains("2026-01 ") && !incomplete().contains("2025-11 "))
  }
}
