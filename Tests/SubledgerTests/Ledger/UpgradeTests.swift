import Foundation
import EventStore
import TestSupport
import Testing

@Suite("A newer program continues a ledger")
struct UpgradeTests {
  let program: Program

  init() throws { program = try Program() }

  /// The current program, as if released.
  private func today() throws -> ReleasedLedger {
    let script = ReleasedLedger.home.appendingPathComponent("make.sh").path
    let folder = program.folder.url.appendingPathComponent("today")
    try output(of: [script, Program.binary.path, folder.path])
    return ReleasedLedger(name: "today", folder: folder)
  }

  private func run(_ release: ReleasedLedger, _ ledger: String) throws -> [String] {
    let path = { release.folder.appendingPathComponent($0).path }
    let asOf = try String(contentsOfFile: path("as_of.txt"), encoding: .utf8)
    return [
      "run", "--archives", path("first"), path("then"), "--snapshots", path("snapshots"),
      "--config", path("subledger.yaml"), "--prices", path("prices.csv"), "--as-of",
      asOf.trimmingCharacters(in: .whitespacesAndNewlines), "--ledger", "\(ledger).sqlite",
      "--out", ledger,
    ]
  }

  @Test("The next run on the ledger of any release publishes what a new ledger would")
  func releases() throws {
    for release in try ReleasedLedger.all() + [today()] {
      let (kept, fresh) = ("\(release.name)-kept", "\(release.name)-fresh")
      let bytes = [UInt8](try release.unpacked())
      try program.folder.write(bytes, to: "\(kept).sqlite")
      for ledger in [kept, fresh] {
        let result = try program.run(try run(release, ledger))
        #expect([0, 1].contains(result.status), "\(release.name): \(result)")
      }
      let sets = (try timeless(program, kept), try timeless(program, fresh))
      #expect(sets.0["revenue_monthly.csv"]?.count ?? 0 > 500, "there are numbers to compare")
      // One run over everything lacks breaks that an earlier run saw and this one resolved.
      #expect(differences(sets.0, sets.1).filter { $0 != "breaks.csv" } == [], "\(release.name)")
      #expect(try standing(kept) == standing(fresh), "\(release.name)")
      let repeated = try program.rows("inputs.csv", in: kept).count { $0["status"] == "repeated" }
      #expect(repeated == 0, "the ledger knows its own archives, wherever they lie now")
      let read = try program.run(["status", "--ledger", "\(kept).sqlite"])
      #expect(read.output.contains(/\n +2  20/), "the release's run is the first: \(read)")
    }
  }

  /// The unresolved breaks, with their missing events.
  private func standing(_ out: String) throws -> [[String?]] {
    try program.rows("breaks.csv", in: out).filter { $0["status"] != "resolved" }.map {
      [$0["break_id"], $0["code"], $0["missing_events"], $0["estimated_usd"], $0["expected_at"]]
    }
  }

  @Test("A ledger of a newer program ends with 78, and is left unchanged")
  func newer() throws {
    try program.folder.write(bodies(3), to: "in/a.jsonl")
    let arguments = ["--as-of", "2026-03-01", "--ledger", "a.sqlite"]
    #expect(try program.run(["run", "--archives", "in"] + arguments).status == 0)
    do {
      let ledger = try Ledger.open(path: program.folder.path("a.sqlite"), mode: .readWrite)
      try ledger.rows(sql: "pragma user_version = 999") { _ in }
      try ledger.checkpoint()
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: program.folder.path("a.sqlite")))
    for command in [["run", "--archives", "in"], ["report"]] {
      let result = try program.run(command + arguments).ended(78)
      #expect(result.errors.contains("a.sqlite: a newer version of the program made it"))
      #expect(result.errors.contains("use that version, or rebuild the ledger"))
    }
    #expect(try program.run(["status", "--ledger", "a.sqlite"]).status == 78)
    let after = try Data(contentsOf: URL(fileURLWithPath: program.folder.path("a.sqlite")))
    #expect(after == before)
  }
}
