import Foundation
import EventStore
import TestSupport
import Testing

@Suite("Prune removes what is no longer needed, and changes nothing else")
struct PruneTests {
  private static let seeds: ClosedRange<Int> = {
    let longer = ProcessInfo.processInfo.environment["PRUNE_SEEDS"].flatMap { Int($0) }
    return 11...(10 + (longer ?? 1))
  }()

  @Test(
    "Later runs are reproduced exactly, earlier ones are refused, and new runs are the same",
    arguments: seeds)
  func runs(seed: Int) throws {
    let runs = try RandomRuns.lived(seed: seed)
    let sets = runs.sets
    let program = runs.world.program
    try copy("l", "n", program)
    let evidence = try closedMonths("l", program)
    var size = try bytes("l", program).count
    for month in ["2025-05", "2025-08"] {
      let before = try bytes("l", program)
      let dry = try prune(month, program, "--dry-run")
      #expect(dry.status == 0 && dry.output.hasPrefix("would remove "), "\(dry)")
      #expect(try bytes("l", program) == before)
      let done = try prune(month, program).ended(0)
      let counts = dry.output.prefix { $0 != ";" }.dropFirst("would remove ".count)
      #expect(done.output.hasPrefix("removed \(counts);"), "\(done)")
      #expect(done.output.contains(/[1-9][0-9]* published versions? and the checksums of [1-9]/))
      #expect(month != "2025-08" || done.output.contains(/removed [1-9][0-9]* snapshots/))
      try program.run(["verify", "--ledger", "l.sqlite", "--replay"]).ended(0)
      #expect(try bytes("l", program).count <= size)
      size = try bytes("l", program).count
    }
    #expect(try closedMonths("l", program) == evidence)
    #expect(try bytes("l", program).count < bytes("n", program).count)
    let nothing = try prune("2025-08", program)
    #expect(nothing.status == 0 && nothing.output.contains("nothing is needed"), "\(nothing)")

    var kept = 0
    for (index, asOf) in runs.asOfs.enumerated() {
      let again = try program.run([
        "report", "--ledger", "l.sqlite", "--at-run", "\(index + 1)", "--out", "again",
      ])
      guard asOf >= "2025-08" else {
        #expect(again.status == 64 && again.errors.contains("was pruned before"), "\(again)")
        continue
      }
      kept += 1
      try #require([0, 1].contains(again.status), "seed \(seed), run \(index + 1): \(again)")
      #expect(differences(sets[index], try program.published(in: "again")).isEmpty)
    }
    #expect(kept > 0)
    let earlier = try program.run([
      "report", "--ledger", "l.sqlite", "--as-of", "2025-07-31", "--out", "again",
    ])
    #expect(earlier.status == 64 && earlier.errors.contains("was pruned before"), "\(earlier)")
    for name in ["l", "n"] {
      try runs.world.publish([
        "run", "--ledger", "\(name).sqlite", "--archives", "world/archives", "--config", "c.yaml",
        "--as-of", "2025-09-01", "--out", "next-\(name)",
      ])
    }
    let (one, other) = (
      try program.published(in: "next-l"), try program.published(in: "next-n")
    )
    #expect(one.count > 20 && differences(one, other).isEmpty, "seed \(seed)")
  }

  @Test("A month after the newest run, an invalid month and a ledger without a set are refused")
  func refused() throws {
    let program = try Program()
    #expect(try program.run(["prune", "--before", "2025-05"]).status == 66)
    try program.folder.write(bodies(3), to: "in/1.jsonl")
    try program.run(["ingest", "--archives", "in"])
    #expect(try program.run(["prune", "--before", "2025-05"]).status == 66)
    try program.run(["run", "--archives", "in", "--as-of", "2026-05-01"])
    let beyond = try program.run(["prune", "--before", "2026-06"])
    #expect(beyond.status == 64 && beyond.errors.contains("the newest run is as of"), "\(beyond)")
    #expect(try program.run(["prune", "--before", "May"]).status == 64)
    #expect(try program.run(["prune"]).status == 64)
    let path = program.folder.path("subledger.sqlite")
    let lock = try LedgerLock.acquire(ledgerPath: path, waitSeconds: 0)
    #expect(try program.run(["prune", "--before", "2026-05"]).status == 75)
    withExtendedLifetime(lock) {}
  }

  @Test("Versions of a closed month stay, and a missing version is reported")
  func closed() throws {
    let program = try RandomRuns.lived(seed: 13, count: 5).world.program
    try program.run([
      "close", "2025-02", "--ledger", "l.sqlite", "--force", "--reason", "books",
    ]).ended(0)
    func versions(_ sign: String) throws -> Int64 {
      var count: Int64 = 0
      let ledger = try Ledger.open(path: program.folder.path("l.sqlite"), mode: .readOnly)
      try ledger.rows(
        sql: """
          select count(*) from published_row as row join published on published.id = row.version
          where (zone, period) \(sign) (select zone, period from act where what = 'close')
          """
      ) { count = $0.number(0) }
      return count
    }
    let (frozen, open) = (try versions("in"), try versions("not in"))
    let frozenMonths = try closedMonths("l", program)
    #expect(try prune("2025-06", program).status == 0)
    #expect(try versions("in") == frozen && versions("not in") < open)
    #expect(try closedMonths("l", program) == frozenMonths)
    let ledger = try Ledger.open(path: program.folder.path("l.sqlite"), mode: .readWrite)
    try ledger.rows(
      sql: "delete from published_row where version = (select min(version) from published_row)"
    ) { _ in }
    try ledger.checkpoint()
    let result = try program.run(["verify", "--ledger", "l.sqlite"])
    #expect(result.status == 65 && result.output.contains("published_row: run "), "\(result)")
  }

  private func prune(
    _ month: String, _ program: Program, _ more: String...
  ) throws -> ProgramResult {
    try program.run(["prune", "--before", month, "--ledger", "l.sqlite"] + more)
  }

  private func bytes(_ name: String, _ program: Program) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: program.folder.path("\(name).sqlite")))
  }

  private func copy(_ name: String, _ other: String, _ program: Program) throws {
    try FileManager.default.copyItem(
      atPath: program.folder.path("\(name).sqlite"),
      toPath: program.folder.path("\(other).sqlite"))
  }

  /// The rows that closes froze.
  private func closedMonths(_ name: String, _ program: Program) throws -> [String] {
    let ledger = try Ledger.open(path: program.folder.path("\(name).sqlite"), mode: .readOnly)
    var rows: [String] = []
    try ledger.rows(sql: "select act, report, sha256, hex(rows) from closed_report order by 1, 2") {
      row in rows.append((0..<row.columnCount).map { row.text($0) }.joined(separator: " "))
    }
    return rows
  }
}
