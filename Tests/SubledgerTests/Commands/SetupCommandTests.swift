import Foundation
import TestSupport
import Testing

@Suite("Setup, from no file to a working job")
struct SetupCommandTests {
  let program: Program

  init() throws {
    program = try Program()
    try program.folder.write(bodies(3), to: "in/2026-02-28.jsonl")
  }

  private func names() throws -> Set<String> {
    Set(
      try FileManager.default.contentsOfDirectory(atPath: program.folder.path("."))
        .filter { !$0.hasPrefix(".std") })
  }

  @Test("The configuration that init writes is valid, and a run uses it")
  func whole() throws {
    let made = try program.run(["config", "init", "--archives", "in"])
    #expect(made.status == 0 && made.output.contains("app 1234567890: 3 events"), "\(made)")
    let checked = try program.run(["config", "check"]).ended(0)
    #expect(checked.output == "subledger.yaml: 1 setting given, no error\n")
    let run = try program.run(["run", "--as-of", "2026-03-01"])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(try program.rows("inputs.csv").map { $0["accepted"] } == ["3"])
    let again = try program.run(["config", "init", "--archives", "in"])
    #expect(again.status == 73 && again.errors.contains("subledger.yaml: it exists"), "\(again)")
    let printed = try program.run(["config", "init", "--archives", "in", "--config", "-"])
    #expect(try printed.output == program.text(of: "subledger.yaml"))
  }

  @Test("Every error of a configuration is found at once, and ends with 78")
  func check() throws {
    try program.folder.write("outt: a\nfail_on: Open\nlock_wait: soon\n", to: "subledger.yaml")
    let environment = ["SUBLEDGER_JOBS": "0"]
    let checked = try program.run(["config", "check"], environment: environment).ended(78)
    for words in ["line 1: unknown key `outt`", "line 2: `fail_on`", "line 3", "SUBLEDGER_JOBS"] {
      #expect(checked.output.contains(words), "\(checked)")
    }
    #expect(checked.errors.contains("the configuration has 4 errors"))
    #expect(try program.run(["run", "--archives", "in"]).errors.contains("lists all errors"))
    #expect(try names() == ["in", "subledger.yaml"])
  }

  @Test("show names the source of each value")
  func show() throws {
    try program.folder.write("out: a\nsecrets: {iaptic: \"hush\"}\n", to: "subledger.yaml")
    let shown = try program.run(["config", "show", "--as-of", "2026-03-01"]).ended(0)
    #expect(shown.output.contains(/\nout +subledger\.yaml:1 +a\n/), "\(shown)")
    #expect(shown.output.contains(/\nas_of +option --as-of +2026-03-01\n/))
    #expect(!shown.output.contains("hush"))
  }

  @Test("--version --verbose lists the build's libraries, --version alone the number")
  func version() throws {
    let short = try program.run(["--version"])
    #expect(short.output.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+\n/) != nil, "\(short)")
    let long = try program.run(["--version", "--verbose"])
    #expect(long.status == 0 && long.output.contains(short.output), "\(long)")
    for words in [/\nSQLite +3\.[0-9.]+\n/, /\ninflate +.*zlib 1[0-9.]+\n/, /\nreads +gzip/] {
      #expect(long.output.contains(words), "\(long)")
    }
  }

  @Test("Every option of every command is described")
  func described() throws {
    let help = try program.run(["--experimental-dump-help"]).output
    let object = try JSONSerialization.jsonObject(with: Data(help.utf8))
    let root = (object as? [String: Any])?["command"] as? [String: Any]
    let commands = root?["subcommands"] as? [[String: Any]] ?? []
    let options = commands.flatMap { $0["arguments"] as? [[String: Any]] ?? [] }
    #expect(options.count > 100)
    // The library describes neither its own help option nor its arguments.
    for option in options
    where option["shouldDisplay"] as? Bool == true
      && option["valueName"] as? String != "subcommands"
    {
      #expect((option["abstract"] as? String)?.isEmpty == false, "\(option)")
    }
  }

  @Test("doctor finds nothing wrong with a working job, and writes nothing")
  func healthy() throws {
    let before = try program.run(["doctor", "--archives", "in"])
    #expect(before.status == 0 && before.output.contains("does not exist yet"), "\(before)")
    #expect(try names() == ["in"])
    #expect(
      try program.run(["run", "--archives", "in", "--as-of", "2026-03-01"]).status == 0)
    let files = try filesAndBytes(under: program.folder.path("."))
    let after = try program.run(["doctor", "--archives", "in"]).ended(0)
    let lines = after.output.split(separator: "\n")
    for name in ["configuration", "time zones", "archives", "names", "ledger", "clock"] {
      let found = lines.filter { $0.dropFirst(9).hasPrefix(name) }
      #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("ok ") }, "\(name): \(after)")
    }
    // Files of SQLite, during and after a read.
    let left = try filesAndBytes(under: program.folder.path("."))
      .filter { !$0.key.hasSuffix("-wal") && !$0.key.hasSuffix("-shm") }
    #expect(left == files)
  }

  @Test("doctor reports problems with hints, and ends with 1 for an error")
  func ill() throws {
    try program.folder.write(bodies(1, from: 5), to: "in/2026-3-1.jsonl")
    let snapshot =
      #"{"provider":"qonversion","user_id":"QON_1","captured_at":1772193700,"entitlements":"#
      + #"[{"id":"p","product_id":"dashboard","active":true}]}"#
    try program.folder.write(snapshot + "\n", to: "snaps/2026-02-28.jsonl")
    let input = ["--archives", "in", "--snapshots", "snaps"]
    #expect(try program.run(["run", "--as-of", "2099-01-01"] + input).status == 0)
    chmod(program.folder.path("subledger.sqlite"), 0o644)
    let warned = try program.run(["doctor"] + input).ended(0)
    for words in [
      "1 of 2 names of archives hold no date, such as 2026-3-1.jsonl",
      "1 product of snapshots in no event, the first is dashboard",
      "other users can read the ledger", "before the last run's as-of",
    ] {
      #expect(warned.output.contains(words), "\(words): \(warned)")
    }
    try program.folder.write("products: {dashboard: com.example.pro.monthly}\n", to: "c.yaml")
    let mapped = try program.run(["doctor", "--config", "c.yaml"] + input)
    #expect(!mapped.output.contains("in no event"), "\(mapped)")
    let wrong = try program.run(["doctor", "--archives", "gone", "--out", "/proc/x/reports"])
    #expect(wrong.status == 1, "\(wrong)")
    #expect(wrong.output.contains("cannot read gone"), "\(wrong)")
    let unwritable = try program.run(
      ["doctor", "--metrics", "none/metrics", "--summary", "summary.json"] + input)
    #expect(unwritable.status == 1, "\(unwritable)")
    #expect(unwritable.output.contains("none (metrics) cannot be written"), "\(unwritable)")
    #expect(unwritable.output.contains("(summary): "), "\(unwritable)")
  }

  @Test("doctor reports where no run can publish, which a run refuses before it reads anything")
  func places() throws {
    let run = ["--archives", "in", "--as-of", "2026-03-01"]
    try program.folder.write("", to: "file")
    for out in ["file", "reports"] {
      let places = ["--out", out, "--ledger", "new.sqlite"]
      let refused = try program.run(["run"] + run + places).ended(73)
      let found = try program.run(["doctor", "--archives", "in"] + places).ended(1)
      let cause = refused.errors.split(separator: "\n")[0].dropFirst("subledger: ".count)
      #expect(found.output.contains(cause), "\(found)")
      #expect(!FileManager.default.fileExists(atPath: program.folder.path("new.sqlite")))
      // The set of another ledger, for the second time.
      try program.run(["run"] + run).ended(0)
    }
    let none = ["--ledger", "none/l.sqlite", "--out", "other"]
    try program.run(["run"] + run + none).ended(73)
    let found = try program.run(["doctor", "--archives", "in"] + none).ended(1)
    #expect(found.output.contains("none (ledger) cannot be written"), "\(found)")
  }
}
