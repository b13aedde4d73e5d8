import Foundation
import TestSupport
import Testing

@Suite("Secrets and personal data stay in the input")
struct CanaryTests {
  let program: Program

  init() throws { program = try Program() }

  private let options = ["--as-of", "2026-03-02", "--config", "subledger.yaml", "--verbose"]

  /// Writes the corpus: complete lines, broken ones, a torn and a damaged archive, snapshots.
  private func plant() throws {
    let whole = CanaryCorpus.bodies.flatMap { [$0] + CanaryCorpus.enveloped($0) }
    let broken = CanaryCorpus.bodies.flatMap(CanaryCorpus.broken) + CanaryCorpus.foreign
    try program.folder.write(whole.joined(separator: "\n"), to: "in/whole.jsonl")
    try program.folder.write(
      (broken + broken.flatMap { CanaryCorpus.enveloped($0).prefix(2) }).joined(separator: "\n"),
      to: "in/broken.jsonl")
    let packed = try Array(gzip("-nc", program.folder.path("in/whole.jsonl")))
    try program.folder.write(Array(packed.prefix(packed.count / 2)), to: "in/torn.gz")
    var damaged = packed
    damaged[packed.count * 2 / 3] ^= 0x55
    try program.folder.write(damaged, to: "in/damaged.gz")
    let snapshots = CanaryCorpus.snapshots
    try program.folder.write(
      (snapshots + snapshots.flatMap { CanaryCorpus.broken($0).prefix(7) } + CanaryCorpus.foreign)
        .joined(separator: "\n"), to: "now/snapshots.jsonl")
    let config =
      "limits: {value_bytes: 8192}\nsecrets: {iaptic: c4n4ry-password, flobuk: c4n4ry-key}\n"
    let path = try program.folder.write(config, to: "subledger.yaml")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  private func expectNone(_ data: Data, _ place: String) {
    #expect(data.canaries().isEmpty, "in \(place)")
  }

  /// Searches everything written during the run, and the files left in its folder.
  private func search(_ watch: Watch, _ result: ProgramResult, _ about: String) throws {
    expectNone(try watch.writes(), "what \(about) wrote")
    expectNone(Data((result.output + result.errors).utf8), "what \(about) said")
    for (name, bytes) in try filesAndBytes(under: program.folder.path) {
      if ["in/", "now/", "subledger.yaml"].contains(where: name.hasPrefix) { continue }
      expectNone(bytes, "\(name) after \(about)")
      expectNone(Data(name.utf8), "a name after \(about)")
    }
  }

  @Test("No run writes or prints secrets in any form, not even to temporary files")
  func everyCommand() throws {
    try plant()
    let inputs = ["--archives", "in", "--snapshots", "now"]
    for arguments in [
      ["run"] + inputs + options + ["--dry-run"], ["run"] + inputs + options,
      ["run"] + inputs + options + ["--log-format", "json", "--csv-dialect", "excel"],
      ["report"] + options, ["status", "--config", "subledger.yaml"],
      ["drill", "--config", "subledger.yaml", "--verbose"],
      ["verify", "--replay", "--verbose"], ["explain", "revenue_monthly", "charges"],
      ["pack", "2026-02", "--out", "pack.tar.gz"],
      ["close", "2026-02", "--reason", "r", "--force"], ["reopen", "2026-02", "--reason", "r"],
      ["erase", "QON_1", "--reason", "r"], ["backup", "backup.sqlite"],
      ["prune", "--before", "2026-01"],
    ] {
      let watch = try Watch()
      let folder = try program.folder.write("", to: "tmp/.keep")
      let result = try program.run(
        arguments,
        environment: watch.environment.merging(
          ["TMPDIR": (folder as NSString).deletingLastPathComponent]) { $1 })
      #expect([0, 1].contains(result.status), "\(arguments): \(result)")
      try search(watch, result, arguments[0])
    }
    expectNone(try gzip("-dc", program.folder.path("pack.tar.gz")), "the pack")
    let inputRows = try program.rows("inputs.csv")
    let providers = Set(try program.rows("coverage.csv").map { $0["provider"] })
    #expect(providers.count == 4, "lines of each provider are taken")
    // The torn archive is the beginning of the complete one.
    #expect(inputRows.filter { $0["status"] == "damaged" }.count == 1)
    #expect(inputRows.contains { $0["archive"] == "torn.gz; whole.jsonl" })
    let reasons = Set(try program.rows("rejects.csv").compactMap { $0["reason"] })
    #expect(
      reasons.isSuperset(of: [
        "not_json", "value_too_long", "not_an_object", "unknown_provider", "missing_field",
        "bad_field", "bad_time", "error_response",
      ]), "\(reasons)")
  }

  @Test("Failing runs print no secrets")
  func failures() throws {
    try plant()
    try program.folder.write(CanaryCorpus.foreign.joined(separator: "\n"), to: "in-bad/a.jsonl")
    try program.folder.write(#"{"user_id":"c4n4ry","entitlements":[]}"#, to: "undated/a.jsonl")
    try program.folder.write("archives: [c4n4ry\n  b: c4n4ry: c", to: "torn.yaml")
    try program.folder.write("- c4n4ry: c4n4ry\n  - c4n4ry", to: "torn-decisions.yaml")
    for (arguments, status) in [
      (["run", "--archives", "in-bad"], 65 as Int32),
      (["run", "--archives", "in", "--snapshots", "undated"], 1),
      (["run", "--archives", "in", "--config", "torn.yaml"], 78),
      (["run", "--archives", "in", "--decisions", "torn-decisions.yaml"], 78),
    ] {
      let watch = try Watch()
      let result = try program.run(arguments + ["--verbose"], environment: watch.environment)
      #expect(result.status == status, "\(arguments): \(result)")
      expectNone(try watch.writes(), "\(arguments)")
    }
  }

  @Test("The search finds data that is kept on purpose, even in the ledger's log")
  func control() throws {
    let body = CanaryCorpus.bodies[0].replacing("QON_1", with: "c4n4ry-user")
    try program.folder.write(body, to: "in/a.jsonl")
    let watch = try Watch()
    try program.run(
      ["ingest", "--archives", "in"], environment: watch.environment
    ).ended(0)
    #expect(try watch.writes().canaries() == ["c4n4ry"])
    for before in ["", "a", "ab"] {
      let base64 = Data("\(before)c4n4ry!".utf8).base64EncodedString()
      #expect(Data("x\(base64)".utf8).canaries() == ["c4n4ry"])
    }
    #expect(Data("63346E347279".utf8).canaries() == ["c4n4ry"])
  }
}
