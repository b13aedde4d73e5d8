import Foundation
import TestSupport
import Testing

@Suite("Breaks that events prove are the same with and without an old snapshot")
struct OldSnapshotTests {
  private let snapshot = #"{"user_id":"QON_1","captured_at":"2026-02-20T00:00:00Z","data":[]}"#

  /// An event of subscription 1; `time` and `end` are days of 2026 from 1 January.
  private func event(
    _ name: String, _ time: Int, id: Int, until end: Int, count: Int? = nil
  ) -> String {
    Body(name, of: "QON_1", time, id: id, until: end, count: count).line + "\n"
  }

  /// The input of each run: a start, a renewal, and a renewal whose counter is one too high.
  private var deliveries: [(asOf: String, lines: String)] {
    var other = Body(2)
    other.members["time"] = "1767229200"
    return [
      (
        "2026-03-20",
        other.line + "\n" + event("subscription_started", 60, id: 100, until: 90)
      ),
      ("2026-04-02", event("subscription_renewed", 90, id: 101, until: 120, count: 1)),
      ("2026-05-02", event("subscription_renewed", 121, id: 103, until: 151, count: 3)),
      ("2026-06-05", Body(3).line + "\n"),
    ]
  }

  /// Publishes run by run; the snapshot arrives with run `snapshotRun`, or never.
  private func runs(_ snapshotRun: Int?, from first: Int = 0) throws -> Program {
    let program = try Program()
    // The newest input is one minute after this window.
    try program.folder.write(
      "materiality: 100%\ndelivery_window: {qonversion: 24h}\n", to: "subledger.yaml")
    for (number, delivery) in deliveries.enumerated() {
      try program.folder.write(delivery.lines, to: "in/\(number).jsonl")
      if number == snapshotRun { try program.folder.write(snapshot + "\n", to: "snap/a.jsonl") }
      guard number >= first else { continue }
      let more = (snapshotRun ?? .max) <= number ? ["--snapshots", "snap"] : []
      let result = try program.run(
        ["run", "--archives", "in", "--as-of", delivery.asOf, "--fail-on", "none"] + more)
      try #require(result.status == 0 || result.errors.contains("stale"), "\(result)")
    }
    return program
  }

  @Test("The snapshot changes no break that events prove, whichever run reads it")
  func same() throws {
    let without = try breaks(try runs(nil))
    #expect(without.contains { $0.hasPrefix("MISSED_RENEWAL open QON_1") }, "\(without)")
    for run in deliveries.indices {
      #expect(try breaks(try runs(run)) == without, "the snapshot came in night \(run)")
    }
  }

  @Test("Several runs give the same result as one run")
  func oneRun() throws {
    for run in [nil, 0, 2] {
      let (many, one) = (try runs(run), try runs(run, from: deliveries.count - 1))
      // Only the separate runs contain breaks that ended in between.
      #expect(try breaks(many) == (try breaks(one)))
      let files = try (timeless(many), timeless(one))
      #expect(differences(files.0, files.1).filter { $0 != "breaks.csv" } == [])
    }
  }

  private func breaks(_ program: Program) throws -> [String] {
    try program.rows("breaks.csv").filter { $0["status"] != "resolved" }.map { row in
      ["code", "status", "user_id", "expected_at", "evidence"].map { row[$0] ?? "" }
        .joined(separator: " ").replacing(" reopened ", with: " open ")
    }.sorted()
  }
}
