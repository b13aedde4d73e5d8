import Foundation
import TestSupport
import Testing

@Suite("A run is complete, quiet and keeps secrets")
struct RunCommandTests {
  let program: Program

  init() throws { program = try Program(reading: bodies(3)) }

  private let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]

  @Test("A ledger held by another run ends with 75, and --lock-wait waits for it")
  func lock() throws {
    let path = program.folder.path("subledger.sqlite.lock")
    let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
    let refused = try program.run(run).ended(75)
    #expect(refused.errors.contains("another run holds it"))
    #expect(refused.errors.contains("--lock-wait"))
    // Status only reads and needs no lock.
    #expect(try program.run(["status"]).status == 66, "there is no ledger yet")
    let waiting = try program.start(run + ["--lock-wait", "60"])
    program.waitUntilAtLock(waiting)
    // It tries ten times a second, so without waiting it would have ended by now.
    usleep(300_000)
    #expect(waiting.isRunning)
    close(descriptor)
    waiting.waitUntilExit()
    #expect(waiting.terminationStatus == 0)
    #expect(try program.rows("inputs.csv").count == 1)
  }

  @Test("A successful run without a terminal prints nothing, and status shows its result")
  func quiet() throws {
    for arguments in [run, run + ["--quiet"], run + ["--progress", "auto"]] {
      let result = try program.run(arguments).ended(0)
      #expect(result.output.isEmpty && result.errors.isEmpty, "\(result)")
    }
    let status = try program.run(["status"]).ended(0)
    #expect(status.output.contains(/accepted +3\n/))
    #expect(status.output.contains("qonversion  1234567890"))
    #expect(status.output.contains("1  2026-03-01T00:00:00Z"))
    let verbose = try program.run(run + ["--verbose", "--log-format", "json"])
    for line in verbose.errors.split(separator: "\n") {
      let reported = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
      #expect(Set(reported.keys).isSuperset(of: ["code", "level", "message", "run", "time"]))
      #expect(reported["time"]?.hasSuffix("Z") == true && reported["level"] == "info")
    }
    #expect(!verbose.errors.isEmpty)
  }

  @Test("A progress bar is drawn on request, and on a terminal unless disabled")
  func bar() throws {
    for (mode, isDrawn) in [("always", true), ("never", false), ("auto", false)] {
      let options = ["--progress", mode, "--ledger", "\(mode).sqlite", "--adopt"]
      let reported = try program.run(run + options)
      #expect(reported.output.isEmpty && reported.errors.contains("█") == isDrawn, "\(reported)")
      #expect(reported.errors.contains("\r") == isDrawn, "\(reported)")
    }
    let plain = (["'\(Program.binary.path)'"] + run).joined(separator: " ")
    for (mode, isDrawn) in [("auto", true), ("never", false)] {
      let command = "\(plain) --progress \(mode) --ledger seen-\(mode).sqlite --adopt"
      let seen = try output(
        of: ["script", "-qec", command, "/dev/null"], in: program.folder.path)
      #expect(String(decoding: seen, as: UTF8.self).contains("█") == isDrawn, "\(mode)")
    }
  }

  @Test("A run publishes into the folder in which it works, or above it, and ends with 0")
  func workingFolder() throws {
    for (folder, out, day) in [("set", ".", "2026-03-01"), ("set/charges", "..", "2026-03-02")] {
      let command =
        "mkdir -p \(folder) && cd \(folder) && '\(Program.binary.path)' run --out \(out) "
        + "--archives \"$OLDPWD/in\" --ledger \"$OLDPWD/l\" --summary \"$OLDPWD/s\" "
        + "--as-of \(day)"
      #expect(try execute(["sh", "-c", command], in: program.folder.path).status == 0)
      for file in ["set/datapackage.json", "s"] {
        #expect(try program.text(of: file).contains("\(day)T00:00:00Z"), "\(folder): \(file)")
      }
    }
  }

  @Test("A report without the previous run's settings warns once")
  func lostSettings() throws {
    try program.folder.write("periods: {com.example.monthly: P1M}\n", to: "own.yaml")
    #expect(try program.run(run + ["--config", "own.yaml"]).errors.isEmpty)
    let report = ["report", "--as-of", "2026-03-01"]
    let bare = try program.run(report).ended(0)
    #expect(bare.errors.contains("the previous run was given periods, but this one was not"))
    #expect(try program.run(report).errors.isEmpty)
    #expect(try program.run(report + ["--config", "own.yaml"]).errors.isEmpty)
  }

  @Test("A dry run reports what would change, and changes nothing")
  func dryRun() throws {
    let first = try program.run(run + ["--dry-run"]).ended(0)
    #expect(first.errors.isEmpty)
    #expect(first.output.contains("the ledger is unchanged"))
    #expect(first.output.contains("1 archive read"))
    #expect(first.output.contains("would add reports/revenue_monthly.csv\n"))
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("reports")))
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("subledger.sqlite")))
    try program.run(run)
    let (ledger, set) = (try ledgerBytes(), try program.published())
    try program.folder.write(bodies(2, from: 10), to: "in/b.jsonl")
    let second = try program.run(run + ["--dry-run", "--verbose"]).ended(0)
    #expect(second.errors.contains("would publish ") && !second.errors.contains(": published "))
    #expect(second.output.contains("would change reports/SHA256SUMS\n"))
    #expect(second.output.contains("would change reports/revenue_monthly.csv\n"))
    #expect(!second.output.contains("breaks.csv") && !second.output.contains("would remove"))
    let third = try program.run(["ingest", "--archives", "in", "--dry-run"])
    #expect(third.output.contains("2 accepted"), "\(third)")
    #expect(!third.output.contains("reports"))
    #expect(try ledgerBytes() == ledger)
    #expect(differences(set, try program.published()).isEmpty)
    try program.run(run)
    #expect(try program.rows("inputs.csv").count == 2)
  }

  @Test("A dry run of a report lists what another as-of or time zone adds, changes and removes")
  func dryReport() throws {
    try program.run(run)
    func lines(_ options: String...) throws -> [String] {
      let result = try program.run(["report", "--dry-run"] + options).ended(0)
      return result.output.split(separator: "\n").map(String.init)
    }
    let same = try lines("--as-of", "2026-03-01")
    #expect(same == ["dry run: the ledger is unchanged", "would change nothing in reports"])
    let earlier = try lines("--as-of", "2026-02-01")
    #expect(earlier.contains("would remove reports/revenue_daily/2026-02.csv"))
    #expect(earlier.contains("would change reports/revenue_monthly.csv"))
    let aside = try lines("--as-of", "2026-03-01", "--out", "aside")
    #expect(aside.contains("would add aside/revenue_daily/2026-02.csv"))
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("aside")))
    let zone = try lines("--timezone", "Asia/Tokyo", "--as-of", "2026-03-01")
    #expect(zone.contains("would change reports/datapackage.json"))
  }

  @Test("A break at the gate ends with 1, and the set is published anyway")
  func gate() throws {
    let snapshot =
      #"{"user_id":"QON_99","captured_at":1772308800,"entitlements":[{"id":"premium","active":1,"#
      + #""renew_state":1,"source":"appstore","associated_product":"pro_monthly","#
      + #""started_timestamp":1772096400,"expiration_timestamp":1774526400,"renews_count":0,"#
      + #""grant_type":"purchase","store_transactions":[{"transaction_id":"2000000900000099","#
      + #""original_transaction_id":"2000000900000099","type":"subscription_started","#
      + #""transaction_timestamp":1772096400,"expiration_timestamp":1774526400,"#
      + #""environment":"production","ownership_type":"owner"}]}]}"#
    try program.folder.write(Body(50, at: 1_771_000_000).line + "\n", to: "in/earlier.jsonl")
    try program.folder.write(snapshot + "\n", to: "snap/a.jsonl")
    try program.folder.write("materiality: 100000%\n", to: "subledger.yaml")
    let both = run + ["--snapshots", "snap"]
    try program.run(both).ended(0)
    let breaks = try program.rows("breaks.csv")
    #expect(breaks.map { $0["code"] } == ["MISSED_START"])
    #expect(breaks.map { $0["transaction_id"] } == ["2000000900000099"])
    #expect(try program.run(both + ["--fail-on", "open"]).status == 1)
    #expect(try program.run(both + ["--fail-on", "none"]).status == 0)
    try program.run(both, environment: ["SUBLEDGER_FAIL_ON": "pending"]).ended(1)
  }

  @Test("A run stopped by SIGTERM ends with 143, and the next run continues")
  func stopped() throws {
    for file in 0..<20 {
      try program.folder.write(bodies(1000, from: file * 1000), to: "in/\(file).jsonl")
    }
    let running = try program.start(run)
    program.waitUntilAtLock(running)
    running.terminate()
    running.waitUntilExit()
    #expect(running.terminationStatus == 143)
    #expect(running.terminationReason == .exit)
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("reports")))
    try program.run(run).ended(0)
    let charges = try program.rows("revenue_monthly.csv").compactMap { Int($0["charges"] ?? "") }
    #expect(charges.reduce(0, +) == 20_000)
  }

  @Test("A run stopped while writing reports ends with 143, and the next publishes the same")
  func stoppedReports() throws {
    try program.folder.write(bodies(2_000), to: "in/a.jsonl")
    let running = try program.start(run)
    var isWriting = false
    while running.isRunning, !isWriting {
      usleep(1000)
      isWriting = try FileManager.default.contentsOfDirectory(atPath: program.folder.path("."))
        .contains { $0.hasPrefix(".reports.staging-") }
    }
    running.terminate()
    running.waitUntilExit()
    #expect(isWriting && running.terminationStatus == 143)
    let left = try FileManager.default.contentsOfDirectory(atPath: program.folder.path("."))
    #expect(!left.contains { $0.contains("reports") }, "\(left)")
    #expect(try program.run(run).status == 0)
    #expect(try program.run(["verify"]).status == 0)
    try program.run(run + ["--ledger", "other.sqlite", "--out", "other"])
    #expect(differences(try program.published(), try program.published(in: "other")).isEmpty)
  }

  @Test(
    "An as-of centuries after all input is treated as a typing error",
    arguments: ["run", "report"])
  func farAsOf(_ command: String) throws {
    try program.run(run)
    let set = try program.published()
    let input = command == "run" ? ["--archives", "in"] : []
    let refused = try program.run([command, "--as-of", "9999-12-31"] + input).ended(64)
    #expect(refused.errors.contains("100 years after the newest input"))
    #expect(differences(set, try program.published()).isEmpty)
  }

  @Test("Secrets and personal data are in neither ledger, reports nor messages")
  func secrets() throws {
    let world = try World(seed: 4, subscribers: 40)
    var body = Body(77)
    body.members["properties"] = "{\"_q_email\":\"mail@example.invalid\"}"
    body.members["time"] = "\"broken by mail@example.invalid\""
    let broken =
      #"{"headers":{"authorization":"Basic simulated-secret"},"body":"# + body.line + "}\n"
      + #"{"event_name":"subscription_started","ip":"198.51.100.7","user_id":"# + "\n"
    try world.program.folder.write(broken, to: "world/archives/broken.jsonl")
    let reported = try world.program.run(world.run() + ["--verbose", "--progress", "always"])
    #expect([0, 1].contains(reported.status), "\(reported)")
    var places = try filesAndBytes(under: world.program.folder.path("reports"))
    for name in ["reports.sqlite", "reports.sqlite-wal"] {
      places[name] = FileManager.default.contents(atPath: world.program.folder.path(name))
    }
    places["stderr"] = Data((reported.errors + reported.output).utf8)
    #expect(try world.program.rows("rejects.csv").count == 2)
    for secret in ["simulated-secret", "Basic ", "example.invalid", "198.51.100", "spring-"] {
      for (name, bytes) in places {
        #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) in \(name)")
      }
    }
  }

  @Test("A receive time after as-of neither refreshes a stale feed nor completes a row")
  func future() throws {
    let line = #"{"receivedAt":"2999-02-07T06:28:16Z","body":\#(Body(9).line)}"#
    try program.folder.write(line + "\n", to: "in/future.jsonl")
    #expect(try program.run(["run", "--archives", "in", "--as-of", "2026-04-20"]).status == 0)
    #expect(try program.rows("breaks.csv").contains { $0["code"] == "STALE_INPUT" })
    #expect(try program.rows("revenue_monthly.csv").map { $0["is_complete"] } == ["false"])
  }

  @Test("A run that finds only known snapshots succeeds")
  func snapshotsAlone() throws {
    try FileManager.default.removeItem(atPath: program.folder.path("in/a.jsonl"))
    let line =
      #"{"provider":"qonversion","user_id":"QON_1","captured_at":1772308800,"entitlements":[]}"#
    try program.folder.write(line + "\n", to: "snap/a.jsonl")
    for _ in 0..<2 {
      let result = try program.run(run + ["--snapshots", "snap"])
      #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
    }
    #expect(try program.run(["report", "--as-of", "2026-03-01"]).status == 0)
  }

  @Test("Ledger and lock are for their owner only")
  func modes() throws {
    try program.run(run)
    for name in ["subledger.sqlite", "subledger.sqlite.lock"] {
      let path = program.folder.path(name)
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  @Test("The spreadsheet dialect has a byte order mark and CRLF, and amounts are rounded")
  func excel() throws {
    try program.run(run + ["--csv-dialect", "excel", "--amount-decimals", "0"])
    let path = program.folder.path("reports/revenue_monthly.csv")
    let bytes = try #require(FileManager.default.contents(atPath: path))
    #expect(bytes.starts(with: [0xEF, 0xBB, 0xBF]))
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.components(separatedBy: "\r\n").count == 3)
    #expect(text.contains(",3,0,30,0,30,9,21,"))
  }

  private func ledgerBytes() throws -> [Data?] {
    ["subledger.sqlite", "subledger.sqlite-wal"].map {
      FileManager.default.contents(atPath: program.folder.path($0))
    }
  }
}
