import Foundation
import TestSupport
import Testing

@Suite("Deliveries are checked against the configured secrets")
struct SecretsTests {
  let program: Program

  init() throws {
    program = try Program()
    let lines = [delivery(1, "Basic canary-new"), delivery(2, "Basic canary-old")]
    try program.folder.write(
      (lines + [delivery(3, "Basic canary-forged"), Body(4).line]).joined(separator: "\n"),
      to: "in/a.jsonl")
    // Enough valid lines that one reject does not qualify the set.
    try program.folder.write(bodies(100, from: 100), to: "in/b.jsonl")
  }

  private let run = [
    "run", "--archives", "in", "--as-of", "2026-03-01", "--config", "secrets.yaml", "--verbose",
  ]

  private func delivery(_ number: Int, _ authorization: String) -> String {
    #"{"headers":{"Authorization":"\#(authorization)"},"body":\#(Body(number).line)}"#
  }

  private func configure(_ text: String, mode: Int = 0o600) throws {
    try write(text, to: "secrets.yaml", mode: mode)
  }

  private func write(_ text: String, to name: String, mode: Int) throws {
    let path = try program.folder.write(text, to: name)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  /// Runs the job and searches its files and messages for the secrets.
  private func run(_ environment: [String: String] = [:]) throws -> ProgramResult {
    let result = try program.run(run, environment: environment)
    var left = try filesAndBytes(under: program.folder.path)
    for name in left.keys where name.hasPrefix("in/") || name.hasPrefix("secret") {
      left[name] = nil
    }
    left["stdout"] = Data(result.output.utf8)
    left["stderr"] = Data(result.errors.utf8)
    for (name, bytes) in left {
      for secret in ["canary", Data("canary-new".utf8).base64EncodedString()] {
        #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) in \(name)")
      }
    }
    return result
  }

  private func expectJudged(_ result: ProgramResult) throws {
    #expect(result.status == 0, "\(result)")
    #expect(try program.rows("rejects.csv").map { $0["reason"] } == ["unauthenticated"])
    #expect(try program.rows("rejects.csv").first?["line"] == "3")
    let charges = try program.rows("revenue_monthly.csv").compactMap { Int($0["charges"] ?? "") }
    #expect(charges.reduce(0, +) == 103)
  }

  @Test("A secret can be in a variable, a file or the configuration, and several are valid")
  func sources() throws {
    try write("canary-old\r\n\n", to: "secret.txt", mode: 0o400)
    try configure("secrets: {qonversion: [{env: SUBLEDGER_SECRET_Q}, {file: secret.txt}]}")
    try expectJudged(try run(["SUBLEDGER_SECRET_Q": "canary-new"]))
  }

  @Test("Several secrets can be in one file, one per line")
  func lines() throws {
    try write("canary-new\ncanary-old", to: "secret.txt", mode: 0o600)
    try configure("secrets: {qonversion: {file: secret.txt}}", mode: 0o644)
    let result = try run()
    try expectJudged(result)
    #expect(!result.errors.contains("others can read"))
  }

  @Test("A byte order mark in a file of secrets is not part of the first")
  func marked() throws {
    try write("\u{FEFF}canary-new\r\ncanary-old\r\n", to: "secret.txt", mode: 0o600)
    try configure("secrets: {qonversion: {file: secret.txt}}")
    try expectJudged(try run())
  }

  @Test("If no line has the secret, the message reports that, with the first line's position")
  func wrongSecret() throws {
    try FileManager.default.removeItem(atPath: program.folder.path("in/b.jsonl"))
    let lines = ["nonsense"] + (1...3).map { delivery($0, "Basic canary-old") }
    try program.folder.write(lines.joined(separator: "\n"), to: "in/a.jsonl")
    try configure("secrets: {qonversion: canary-new}")
    let result = try run().ended(65)
    let words = "; most were rejected as unauthenticated (3), first line 2, at byte 9, of a.jsonl: "
    #expect(result.errors.contains(words), "\(result)")
    #expect(result.errors.contains("hint: check `secrets` in the configuration"), "\(result)")
  }

  @Test("Lines rejected for a secret are read again after an empty line, but not as equal bytes")
  func readAnew() throws {
    try configure("secrets: {qonversion: canary-new}")
    _ = try run()
    #expect(try program.rows("rejects.csv").count == 2)
    try configure("secrets: {qonversion: [canary-new, canary-old]}")
    let text = try program.text(of: "in/a.jsonl")
    let copy = program.folder.path("in/c.jsonl")
    try FileManager.default.copyItem(atPath: program.folder.path("in/a.jsonl"), toPath: copy)
    let reported = "c.jsonl holds the same bytes as a.jsonl, of which 2 lines were rejected"
    // A copy may keep the time of its original.
    let times = try FileManager.default.attributesOfItem(atPath: program.folder.path("in/a.jsonl"))
    let date = try #require(times[.modificationDate] as? Date)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: copy)
    #expect(try !run().errors.contains(reported))
    let later = date.addingTimeInterval(7)
    try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: copy)
    let same = try run()
    #expect(same.status == 0 && same.errors.contains(reported), "\(same)")
    try program.folder.write("\n" + text, to: "in/c.jsonl")
    #expect(try run().status == 0)
    let rows = try program.rows("inputs.csv").filter { $0["archive"] == "c.jsonl" }
    let row = rows.first { $0["lines"] == "4" }
    #expect(row?["accepted"] == "1" && row?["rejected"] == "1", "\(row ?? [:])")
  }

  @Test("A rejected delivery neither makes the input newer nor completes a row")
  func watermark() throws {
    try configure("secrets: {qonversion: [canary-new, canary-old]}")
    for (secret, newest, isComplete) in [
      ("forged", "2026-02-27T", "false"), ("new", "2026-03-06T", "true"),
    ] {
      let late = delivery(500, "Basic canary-\(secret)").replacing(
        "{\"headers\"", with: "{\"receivedAt\":\"2026-03-06T00:00:00Z\",\"headers\"")
      try program.folder.write("\(late)\n\(Body(501).line)\n", to: "in/\(secret).jsonl")
      try program.run([
        "run", "--archives", "in", "--as-of", "2026-03-06", "--config", "secrets.yaml",
      ]).ended(0, 1)
      #expect(try program.run(["status"]).output.contains("  \(newest)"), "\(secret)")
      let rows = try program.rows("revenue_monthly.csv")
      #expect(rows.map { $0["is_complete"] } == [isComplete], "\(secret)")
    }
  }

  @Test("A replay leaves out refused lines, whatever the current secrets, and counts them")
  func replay() throws {
    try configure("secrets: {qonversion: canary-old}")
    #expect(try run().status == 0)
    try configure("secrets: {qonversion: canary-new}")
    let lines = [delivery(5, "Basic canary-new"), delivery(6, "Basic canary-old")]
    try program.folder.write(lines.joined(separator: "\n"), to: "in/c.jsonl")
    #expect(try run().status == 0)
    for more in [["--config", "secrets.yaml"], []] {
      let proof = try program.run(["verify", "--replay"] + more).ended(0)
      #expect(proof.output.contains("holds    replay.reports"), "\(proof)")
      #expect(proof.output.contains("3 lines that are listed as unauthenticated"), "\(proof)")
    }
    let forged = (1...1001).map { delivery($0, "Basic canary-forged") }
    try program.folder.write(forged.joined(separator: "\n"), to: "in/d.jsonl")
    #expect(try run().status == 65)
    let proof = try program.run(["verify", "--replay"]).ended(0)
    #expect(proof.output.contains("skipped  replay.events"), "\(proof)")
    #expect(proof.output.contains("more lines of d.jsonl were rejected"), "\(proof)")
  }

  @Test("A configuration with secrets that others can read is reported in every run")
  func exposed() throws {
    try configure("secrets: {qonversion: [canary-new, \"canary-old\"]}")
    let closed = try run()
    try expectJudged(closed)
    #expect(!closed.errors.contains("warning"), "\(closed)")
    try configure("secrets: {qonversion: [canary-new, \"canary-old\"]}", mode: 0o640)
    let open = try run()
    #expect(open.status == 0 && open.errors.contains("secrets.yaml holds secrets"), "\(open)")
  }

  @Test("A missing secret, or one that others can read, ends with 78 and names its provider")
  func refusals() throws {
    try write("canary", to: "secret.txt", mode: 0o644)
    try write("\n", to: "secret-empty.txt", mode: 0o600)
    for (text, words) in [
      ("{flobuk: {file: secret.txt}}", ["`secrets.flobuk`", "mode 644", "chmod 600"]),
      ("{purple: [canary, {file: in}]}", ["entry 2 of `secrets.purple`", "not a regular file"]),
      ("{iaptic: {file: canary.txt}}", ["`secrets.iaptic`", "No such file"]),
      ("{iaptic: {file: secret-empty.txt}}", ["`secrets.iaptic`", "holds no secret"]),
      ("{iaptic: {env: CANARY_canary}}", ["`secrets.iaptic`", "not set"]),
      ("{canary: canary}", ["`secrets`", "qonversion, flobuk, iaptic, purple"]),
      ("{iaptic: {canary: canary}}", ["`secrets.iaptic`", "env: NAME"]),
      ("{iaptic: 4711}", ["`secrets.iaptic`", "in quotes"]),
      ("canary", ["`secrets`", "mapping"]),
      ("{iaptic: canary, iaptic: canary}", ["`iaptic` is given twice", "line 1"]),
      ("{iaptic: *canary}", ["aliases", "line 1"]), ("{iaptic: \"canary", ["YAML", "line"]),
    ] {
      try configure("secrets: \(text)\n")
      let result = try run()
      #expect(result.status == 78, "\(text): \(result)")
      for word in words { #expect(result.errors.contains(word), "\(text): \(result)") }
    }
  }

  @Test("Reports need no secrets, and the manifest lists providers whose deliveries are checked")
  func reporting() throws {
    try configure("secrets: {qonversion: {env: Q}, iaptic: {env: I}}")
    try run(["Q": "canary-new", "I": "canary-old"]).ended(0)
    try program.run(["report", "--config", "secrets.yaml", "--as-of", "2026-03-01"]).ended(0)
    let options = try program.text(of: "reports/datapackage.json").filter { !$0.isWhitespace }
    #expect(options.contains(#""authenticated":["iaptic","qonversion"]"#))
  }
}
