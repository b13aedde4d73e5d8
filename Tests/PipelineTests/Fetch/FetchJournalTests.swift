import Domain
import Foundation
import TestSupport
import Testing

@testable import Pipeline

@Suite("A journal stores each answer once, and becomes files")
struct FetchJournalTests {
  private let folder: TemporaryFolder
  private let now = Instant(seconds: 1_764_130_000)
  private let title = "snapshots-qonversion-2025-11-26T04-06-40Z"

  init() throws { folder = try TemporaryFolder() }

  private func open(_ after: Interval = .seconds(0)) throws -> FetchJournal {
    try FetchJournal.open(in: folder.path, of: .qonversion, at: now + after)
  }

  private func text(_ path: String?) throws -> String {
    String(decoding: try output(of: ["zcat", "-f", try #require(path)]), as: UTF8.self)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  @Test("An interrupted journal continues, and users with incomplete answers are asked again")
  func resume() throws {
    let journal = try open()
    try journal.add([Array("{1}".utf8), Array("{2}".utf8)], of: FetchedUser(id: "a\tb"))
    try journal.add([Array("{3}".utf8)], of: FetchedUser(id: "c", app: "x"))
    let path = folder.path("." + title + ".journal")
    let left = try Data(contentsOf: URL(fileURLWithPath: path))
    try (left + Data("200\t\"d\"\t\"\"\t{4".utf8)).write(to: URL(fileURLWithPath: path))

    let next = try open(.seconds(3600))
    #expect(next.count == 2)
    #expect(next.holds(FetchedUser(id: "a\tb")) && next.holds(FetchedUser(id: "c", app: "x")))
    #expect(!next.holds(FetchedUser(id: "c")) && !next.holds(FetchedUser(id: "d")))
    try next.add([Array("{4}".utf8)], of: FetchedUser(id: "d"))
    let files = try next.finish([])
    #expect(try text(files.snapshots) == "{1}\n{2}\n{3}\n{4}\n")
    #expect(files.failed == nil)
    #expect(try names == [title + ".jsonl.gz"])
  }

  @Test("A partial answer is kept until its user is complete, or for an hour")
  func parts() throws {
    let (user, other) = (FetchedUser(id: "a\tb", app: "x"), FetchedUser(id: "c"))
    func part(_ list: String, after: Interval = .seconds(0), next: String? = nil) -> FetchedPart {
      FetchedPart(capturedAt: now + after, record: .purchases, list: Array(list.utf8), next: next)
    }
    let journal = try open()
    try journal.add(part("[0]", next: "z"), of: user)
    try journal.add(part("[1]", after: .seconds(60), next: "\t1"), of: user)
    try journal.add(part("[2]", after: .seconds(60)), of: user)
    try journal.add(part("[3]"), of: other)
    try journal.add([Array("{3}".utf8)], of: other)
    let path = folder.path("." + title + ".journal")
    let left = try Data(contentsOf: URL(fileURLWithPath: path))
    try (left + Data("100\t\"d\"\t\"\"\tpurchases\t1\n".utf8)).write(
      to: URL(fileURLWithPath: path))

    let next = try open(.seconds(120))
    #expect(next.count == 1 && !next.holds(user))
    let parts = next.parts(of: user, at: now + .seconds(3659))
    #expect(parts.map { String(decoding: $0.list, as: UTF8.self) } == ["[1]", "[2]"])
    #expect(parts.map(\.next) == ["\t1", nil])
    #expect(parts.allSatisfy { $0.capturedAt == now + .seconds(60) && $0.record == .purchases })
    #expect(next.parts(of: user, at: now + .seconds(3660)).isEmpty)
    #expect(next.parts(of: other, at: now).isEmpty)
    #expect(next.parts(of: FetchedUser(id: "d"), at: now).isEmpty)
    let files = try next.finish([])
    #expect(try text(files.snapshots) == "{3}\n")
    #expect(files.failures == 0 && files.failed == nil)
  }

  @Test("Users without a snapshot are listed so that a spreadsheet cannot run their ids")
  func failed() throws {
    let journal = try open()
    let user = FetchedUser(id: "=\"x\"", app: "a")
    try journal.add(FailedUser(user: user, status: 404, reason: "no"))
    let files = try journal.finish([
      FailedUser(user: FetchedUser(id: "u"), status: nil, reason: "late")
    ])
    #expect(files.snapshots == nil && files.failures == 2)
    let rows = [
      "provider,app_id,user_id,status,reason", #"qonversion,a,"'=""x""",404,no"#,
      "qonversion,,u,,late", "",
    ]
    #expect(try text(files.failed) == rows.joined(separator: "\n"))
    #expect(try names == [title + "-failed.csv"])
  }

  @Test("After a day, a leftover journal becomes a file of its own; after an hour it does not")
  func old() throws {
    try open().add([Array("{1}".utf8)], of: FetchedUser(id: "a"))
    #expect(try open(.hours(1)).count == 1)
    #expect(try open(.hours(24)).count == 0)
    #expect(try names.contains(title + ".jsonl.gz"))
  }

  @Test("A second pass in the same second takes the next name; one without users leaves nothing")
  func name() throws {
    for _ in 1...2 {
      let journal = try open()
      try journal.add([Array("{1}".utf8)], of: FetchedUser(id: "a"))
      _ = try journal.finish([])
    }
    _ = try open(.hours(2)).finish([])
    #expect(try names == [title + ".jsonl.gz", title.dropLast(3) + "41Z.jsonl.gz"])
  }

  @Test("Names of fetched files and lists are recognized, others are not")
  func kinds() {
    #expect(FetchJournal.isFetched("a/snapshots-iaptic-x.jsonl.gz"))
    #expect(FetchJournal.isList("snapshots-flobuk-x-failed.csv"))
    #expect(!FetchJournal.isFetched("snapshots-2026.jsonl.gz"))
    #expect(!FetchJournal.isList("mine-failed.csv"))
  }
}
