import Foundation
import TestSupport
import Testing

@Suite("The pack for an auditor")
struct PackTests {
  private let program: Program

  private static let packed = Result {
    let program = try RandomRuns.lived(seed: 12, count: 4).world.program
    try FileManager.default.removeItem(atPath: program.folder.path("arrived"))
    try program.run(["pack", "2025-03", "--ledger", "l.sqlite", "--out", "p.tar.gz"])
    return program
  }

  init() throws { program = try Program(copying: Self.packed.get()) }

  @Test("The set, the documents and the chain are packed in equal bytes, and can be verified")
  func whole() throws {
    let first = try Data(contentsOf: URL(fileURLWithPath: program.folder.path("p.tar.gz")))
    try program.run(["pack", "2025-03", "--ledger", "l.sqlite", "--out", "q.tar.gz"]).ended(0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: program.folder.path("q.tar.gz"))) == first)
    for name in ["l.sqlite", "reports"] { try move(name, to: "away-\(name)") }
    let proof = try program.run(["verify", "--pack", "p.tar.gz"]).ended(0)
    #expect(proof.output.split(separator: "\n").count { $0.hasPrefix("holds") } == 3)
    try system("tar", "-xzf", "p.tar.gz")
    #expect(
      differences(
        try program.published(in: "subledger-2025-03/reports"),
        try program.published(in: "away-reports")
      ).isEmpty)
    try system("sh", "-c", "cd subledger-2025-03 && sha256sum --check --quiet --strict SHA256SUMS")
  }

  @Test("A month in which only a break is due can be packed, and is in the status")
  func onlyBreaks() throws {
    let other = try Program()
    let state = #""status":0,"type":"Subscription","expiresDate":1738472400,"autoRenew":true"#
    try other.folder.write(
      #"{"receivedAt":"2025-01-02T05:00:00Z","headers":{"X-App-Id":"A"},"store":"GooglePlay","#
        + #""body":{"transaction":"GPA.1-2-3-0000","user":"u0","timestamp":1735794000,"#
        + #""data":{\#(state),"productId":"p","sandbox":false},"store":"GooglePlay"}}"#,
      to: "in/a.jsonl")
    try other.folder.write(
      #"{"user":"u9","app_id":"A","captured_at":1739000000,"purchases":[{"data":{"status":4,"#
        + #""type":"Subscription","expiresDate":1736721392,"autoRenew":false,"productId":"p","#
        + #""sandbox":false}}]}"#, to: "seen/s.jsonl")
    try other.folder.write("periods: {p: P1M}\n", to: "c.yaml")
    try other.run([
      "run", "--archives", "in", "--snapshots", "seen", "--config", "c.yaml", "--as-of",
      "2025-03-20",
    ]).ended(0, 1)
    try #require(try other.rows("revenue_monthly.csv").allSatisfy { $0["period"] != "2024-12" })
    #expect(try other.rows("quality_monthly.csv").contains { $0["period"] == "2024-12" })
    try other.run(["pack", "2024-12", "--out", "p.tar.gz"]).ended(0)
    #expect(try other.run(["status"]).output.contains("2024-12"))
  }

  @Test("A pack replaces no archive, earlier pack, ledger or other file")
  func otherFiles() throws {
    try program.folder.write("mine", to: "notes")
    try system("sh", "-c", "gzip --keep notes; ln -s notes link; ln -s none dangling")
    let taken = ["l.sqlite", "l.sqlite.lock", "l.sqlite-wal", "notes", "notes.gz", "p.tar.gz"]
    for name in taken + ["link", "dangling"] {
      let path = program.folder.path(name)
      let before = FileManager.default.contents(atPath: path)
      let result = try program.run(["pack", "2025-03", "--ledger", "l.sqlite", "--out", name])
      #expect(result.status == 73, "\(name): \(result)")
      #expect(FileManager.default.contents(atPath: path) == before, "\(name)")
    }
    for part in ["x.tar.gz.part", "y.tar.gz.part"] {
      try system("sh", "-c", part.hasPrefix("x") ? "echo mine > \(part)" : "ln -s notes \(part)")
      let name = String(part.dropLast(5))
      let result = try program.run(["pack", "2025-03", "--ledger", "l.sqlite", "--out", name])
      #expect(result.status == 73 && result.errors.contains("what a failed one left"), "\(result)")
    }
    #expect(FileManager.default.contents(atPath: program.folder.path("notes")) == Data("mine".utf8))
    let full = try program.run(["pack", "2025-03", "--ledger", "l.sqlite", "--out", "no/p.tar.gz"])
    #expect(full.errors.contains("No such file or directory"), "\(full)")
  }

  @Test("A pack of a closed month has the frozen numbers, sealed by the act and the act's run")
  func closed() throws {
    try run(["report", "--as-of", "2025-06-20"])
    try run(["close", "2025-03", "--force", "--reason", "books close", "--who", "j.doe"])
    try run(["pack", "2025-03", "--out", "c.tar.gz"])
    #expect(try proof("c.tar.gz").status == 0)
    #expect(try proof("c.tar.gz").output.contains("no run has sealed it yet"))
    try system("tar", "-xzf", "c.tar.gz")
    // The frozen numbers equal the set's numbers of the month.
    let shown = try program.text(of: "subledger-2025-03/reports/revenue_daily/2025-03.csv")
    let frozen = "subledger-2025-03/closed/revenue_daily/2025-03.csv"
    #expect(try program.text(of: frozen) == shown)
    // The next set has other numbers, and the pack still has those of the close.
    let before = try program.published(in: "subledger-2025-03/closed")
    try program.folder.write("renewal_gap: 90h\n", to: "g.yaml")
    try run(["report", "--config", "g.yaml", "--as-of", "2025-07-01"])
    try run(["pack", "2025-03", "--out", "d.tar.gz"])
    #expect(try proof("d.tar.gz").output.contains("closed the numbers of run"))
    #expect(!(try proof("d.tar.gz").output.contains("no run has sealed it yet")))
    try system("tar", "-xzf", "d.tar.gz")
    #expect(differences(before, try program.published(in: "subledger-2025-03/closed")).isEmpty)
    #expect(try program.text(of: "subledger-2025-03/pack.json").contains("\"act\" : 1,"))
    try forge()
  }

  /// A forger who updates the checksums is detected by the act, and by the run that sealed it.
  private func forge() throws {
    for (file, reported) in [
      ("churn_monthly.csv", "that were closed"), ("acts.json", "does not contain the close"),
      ("../pack.json", "pack.json does not name the last run"), ("extra", "was not closed"),
    ] {
      try system("tar", "-xzf", "d.tar.gz")
      try system(
        "sh", "-c",
        "cd subledger-2025-03 && touch closed/\(file) && sed -i '"
          + "s/j.doe/j.dot/; s/com.example.pro/com.example.pra/; s/07-01T/07-02T/' closed/\(file) "
          + "&& find . -type f ! -name SHA256SUMS -printf '%P\\n' | LC_ALL=C sort "
          + "| xargs -d '\\n' sha256sum > ../SUMS && mv ../SUMS SHA256SUMS")
      try system("tar", "--format=ustar", "--no-recursion", "-czf", "e.tar.gz", "-T", try list())
      let forged = try proof("e.tar.gz")
      #expect(forged.status == 65 && forged.output.contains(reported), "\(file): \(forged)")
    }
  }

  private func run(_ arguments: [String]) throws {
    try program.run(arguments + ["--ledger", "l.sqlite"]).ended(0, 1)
  }

  private func proof(_ pack: String) throws -> ProgramResult {
    try program.run(["verify", "--pack", pack])
  }

  @Test("A pack with any changed byte fails verification")
  func changed() throws {
    try system("tar", "-xzf", "p.tar.gz")
    for file in ["reports/churn_monthly.csv", "chain.txt", "pack.json", "reports/SHA256SUMS"] {
      let path = "subledger-2025-03/\(file)"
      let url = URL(fileURLWithPath: program.folder.path(path))
      let whole = try [UInt8](Data(contentsOf: url))
      var bytes = whole
      bytes[bytes.count / 2] ^= 1
      try Data(bytes).write(to: url)
      try system(
        "tar", "--format=ustar", "--no-recursion", "-czf", "c.tar.gz",
        "-T", try list())
      try Data(whole).write(to: url)
      let proof = try program.run(["verify", "--pack", "c.tar.gz"])
      #expect(proof.status == 65, "\(file): \(proof)")
    }
    let packed = try [UInt8](
      Data(contentsOf: URL(fileURLWithPath: program.folder.path("p.tar.gz"))))
    for position in stride(from: 20, to: packed.count, by: packed.count / 9) {
      var bytes = packed
      bytes[position] ^= 4
      try program.folder.write(bytes, to: "d.tar.gz")
      let proof = try program.run(["verify", "--pack", "d.tar.gz"])
      #expect(proof.status == 65, "byte \(position)")
      #expect(proof.output.contains("1 of 1 file"), "byte \(position): \(proof)")
    }
  }

  @Test("A pack with a file too large for memory is refused")
  func large() throws {
    try system("tar", "-xzf", "p.tar.gz")
    try system("truncate", "--size=65M", "subledger-2025-03/chain.txt")
    try system("tar", "--format=ustar", "--no-recursion", "-czf", "e.tar.gz", "-T", try list())
    let result = try proof("e.tar.gz").ended(65)
    #expect(result.output.contains("chain.txt is larger than 64 MiB"), "\(result)")
  }

  @Test("After the end of the tar only zeros may follow, because tar would read a second one")
  func secondTar() throws {
    try system(
      "sh", "-c",
      "zcat p.tar.gz >a && { cat a; head -c 99999 /dev/zero; } | gzip >e.tar.gz"
        + "&& cat a a | gzip >f.tar.gz && { cat a; printf '%600s' x; } | gzip >g.tar.gz")
    #expect(try proof("e.tar.gz").status == 0)
    for pack in ["f.tar.gz", "g.tar.gz"] {
      let result = try proof(pack)
      #expect(result.status == 65 && result.output.contains("is not a tar file"), "\(result)")
    }
  }

  @Test("An unfinished month and a missing pack are refused")
  func refused() throws {
    let pack = { (month: String) in
      try program.run(["pack", month, "--ledger", "l.sqlite", "--out", "x.tar.gz"])
    }
    #expect(try pack("2025-12").status == 64)
    #expect(try pack("march").status == 64)
    let early = try pack("1999-03")
    #expect(early.status == 64 && early.errors.contains("has a row of it"), "\(early)")
    #expect(try program.run(["verify", "--pack", "none.tar.gz"]).status == 66)
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("x.tar.gz")))
    let folder = try program.run(["pack", "2025-03", "--ledger", "l.sqlite", "--out", "reports"])
    #expect(folder.status == 73 && folder.errors.contains("it is a folder"), "\(folder)")
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("reports.part")))
    let none = try program.run(["pack", "2025-03", "--ledger", "none", "--out", "x.tar.gz"])
    #expect(none.status == 66 && none.errors.contains("cannot pack the ledger none"), "\(none)")
  }

  @Test("A key signs the pack's checksums as in the README, and no others")
  func signed() throws {
    try system("tar", "-xzf", "p.tar.gz")
    try system("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "finance")
    let key = try program.text(of: "finance.pub")
    try program.folder.write("finance@example.com \(key)", to: "signers")
    let sign = "ssh-keygen -q -Y sign -f ../finance -n subledger SHA256SUMS"
    let verify =
      "ssh-keygen -q -Y verify -f ../signers -I finance@example.com -n subledger -s SHA256SUMS.sig"
    try system("sh", "-c", "cd subledger-2025-03 && \(sign) && \(verify) < SHA256SUMS")
    try system(
      "sh", "-c", "cd subledger-2025-03 && ! sed s/a/b/ SHA256SUMS | \(verify) 2>/dev/null")
  }

  private func list() throws -> String {
    let names = try filesAndBytes(under: program.folder.path("subledger-2025-03")).keys.sorted()
    return try program.folder.write(
      names.map { "subledger-2025-03/\($0)\n" }.joined(), to: "names.txt")
  }

  private func move(_ name: String, to other: String) throws {
    try FileManager.default.moveItem(
      atPath: program.folder.path(name), toPath: program.folder.path(other))
  }

  private func system(_ command: String...) throws {
    try output(of: command, in: program.folder.path)
  }
}
