import Foundation
import TestSupport
import Testing

@Suite("A command that cannot succeed ends with its exit code and a message")
struct CommandLineTests {
  let program: Program

  init() throws { program = try Program(reading: bodies(3)) }

  private let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]

  private func expect(
    _ arguments: [String], _ status: Int32, _ words: String...,
    environment: [String: String] = [:]
  ) throws {
    let result = try program.run(arguments, environment: environment)
    #expect(result.status == status, "\(arguments): \(result)")
    for word in words { #expect(result.errors.contains(word), "\(arguments): \(result)") }
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("reports")))
  }

  @Test("Nothing to read, or an empty ledger, ends with 66")
  func nothing() throws {
    try expect(["run"], 66, "nothing to read", "is empty", "--archives")
    try expect(["move"], 66, "cannot move the events in the ledger subledger.sqlite")
    try FileManager.default.createDirectory(
      atPath: program.folder.path("empty"), withIntermediateDirectories: true)
    try expect(["run", "--archives", "empty"], 66, "nothing to read")
    try program.folder.write("", to: "empty/1.jsonl")
    try expect(["run", "--archives", "empty"], 66, "nothing to read")
    try expect(["run", "--archives", "-"], 66, "nothing to read")
    try program.folder.write(bodies(1), to: "young/1.jsonl")
    try expect(
      ["run", "--archives", "young", "--min-age", "9999"], 66,
      "nothing to read but 1 file younger than --min-age", "smaller --min-age")
    try expect(["ingest", "--archives", "gone"], 66, "cannot list gone")
    try expect(["report", "--ledger", "typo.sqlite"], 66, "typo.sqlite", "--ledger")
    let left = try FileManager.default.contentsOfDirectory(atPath: program.folder.path("."))
    #expect(!left.contains { $0.contains(".sqlite") }, "no ledger and no lock: \(left)")
    try program.folder.write(Array(gzip("-nc", program.folder.path("empty/1.jsonl"))), to: "e.gz")
    for _ in 1...2 { try expect(["run", "--archives", "e.gz"], 66, "nothing to read") }
    try expect(["report"], 66, "nothing to read")
  }

  @Test("A path without an option is understood as archives; an unknown option is not")
  func strayPath() throws {
    try expect(["run", "in", "more"], 64, "did you mean --archives in?")
    try expect(["run", "--colour", "red"], 64, "Unknown option '--colour'")
  }

  @Test("An invalid month is refused before the pack's file is checked")
  func packedMonth() throws {
    try program.folder.write("", to: "p.tar.gz")
    try expect(["pack", "2025-13", "--out", "p.tar.gz"], 64, "2025-13")
  }

  @Test("A file younger than --min-age waits for a later run, and older ones are read")
  func young() throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_772_193_600)],
      ofItemAtPath: program.folder.path("in/a.jsonl"))
    try program.folder.write(bodies(2, from: 10), to: "in/b.jsonl")
    for (options, read) in [(["--min-age", "3600"], ["3"]), ([], ["3", "2"])] {
      try program.run(run + options).ended(0)
      #expect(try program.rows("inputs.csv").map { $0["accepted"] } == read, "\(options)")
    }
  }

  @Test("An inaccessible ledger is not reported as missing")
  func unseenLedger() throws {
    let loop = program.folder.path("loop.sqlite")
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    for command in [
      ["report"], ["verify"], ["status"], ["status", "--format", "json"], ["backup", "b.sqlite"],
      ["explain", "--break", "b-0123456789abcdef"], ["close", "2026-01"],
      ["prune", "--before", "2026-01"],
    ] {
      let result = try program.run(command + ["--ledger", "loop.sqlite"])
      #expect(![0, 64, 66].contains(result.status), "\(command) \(result)")
      #expect(!result.errors.contains("does not exist"), "\(command) \(result)")
    }
  }

  @Test("A missing path ends with 66 and is named")
  func missingPath() throws {
    try expect(["run", "--archives", "in", "absent"], 66, "absent")
    try expect(["run", "--archives", "in", "--snapshots", "gone"], 66, "gone")
  }

  @Test("Options without an effect end with 64")
  func noEffect() throws {
    let known = ["report", "--at-run", "1"]
    try expect(known + ["--csv-dialect", "excel"], 64, "--csv-dialect")
    try expect(known + ["--timezone", "UTC", "--prices", "p"], 64, "--timezone, --prices")
    try expect(known + ["--amount-decimals", "0", "--decisions", "d"], 64, "--amount-decimals")
    try expect(known + ["--reports-dir", "d"], 64, "--reports-dir")
    try expect(["report", "--notify-url", "http://localhost"], 64, "--notify-url")
    let pack = ["verify", "--pack", "p.tar.gz"]
    try expect(pack + ["--strict", "--replay"], 64, "--strict, --replay")
    try expect(pack + ["--out", "x", "--archives", "in"], 64, "--archives, --out")
    try expect(pack + ["--ledger", "x", "--snapshots", "in"], 64, "--snapshots, --ledger")
  }

  @Test("Invalid options end with 64")
  func usage() throws {
    try expect(run + ["--colour", "red"], 64, "--colour")
    try expect(["dance"], 64)
    try expect(["run", "--archives", "in", "--as-of", "yesterday"], 64, "--as-of: \"yesterday\"")
    try expect(["run", "--archives", "in", "--as-of", "2026-02-30"], 64, "--as-of")
    try expect(run + ["--timezone", "Europe/Atlantis"], 64, "unknown time zone \"Europe/")
    try expect(run + ["--jobs", "0"], 64, "--jobs")
    try expect(run + ["--jobs", "many"], 64)
    try expect(run + ["--fail-on", "sometimes"], 64, "none, pending, open, critical")
    try expect(run + ["--csv-dialect", "tsv"], 64, "rfc4180")
    try expect(run + ["--amount-decimals", "7"], 64, "from 0 to 6")
    try expect(run, 64, "SUBLEDGER_OTU", environment: ["SUBLEDGER_OTU": "x"])
    try expect(run, 64, "SUBLEDGER_JOBS", environment: ["SUBLEDGER_JOBS": "x"])
    try expect(run, 64, "SUBLEDGER_DRY_RUN: \"y\"", environment: ["SUBLEDGER_DRY_RUN": "y"])
    try expect(run + ["--jobs", "-1"], 64, "--jobs: \"-1\"", "from 1 to 256")
    try expect(run + ["--csv-dialect", "tsv"], 64, "--csv-dialect: \"tsv\"")
    try expect(run + ["--log-format", "xml"], 64, "one of text, json")
    for command in [run + ["--out"], ["simulate", "--out"], ["backup"]] {
      let name = try #require(command.last)
      try expect(command + [""], 64, "the argument after \"\(name)\" is empty")
    }
    try expect(["explain", "churn_monthly", "period=2026-01", "period=2026-02"], 64, "hint: ")
    #expect(
      !FileManager.default.fileExists(atPath: program.folder.path("subledger.sqlite")))
  }

  @Test("Log settings can be set in the environment and in the configuration")
  func talk() throws {
    try program.folder.write("log_format: json\nfail_on: Open\n", to: "loud.yaml")
    let json = #"{"code":"78","level":"error","message":""#
    let variables = ["SUBLEDGER_LOG_FORMAT": "json", "SUBLEDGER_QUIET": "1"]
    try expect(
      run + ["--config", "loud.yaml"], 78, json, "loud.yaml", "line 2: `fail_on`: ",
      environment: variables)
    try program.folder.write("log_format: json\nverbose: true\n", to: "loud.yaml")
    let reported = try program.run(
      run + ["--config", "loud.yaml"], environment: ["SUBLEDGER_PROGRESS": "never"])
    #expect(reported.status == 0 && reported.errors.contains(#""level":"info""#), "\(reported)")
    let quiet = ["SUBLEDGER_VERBOSE": "no", "SUBLEDGER_DRY_RUN": ""]
    let silent = try program.run(run + ["--config", "loud.yaml"], environment: quiet)
    #expect(silent.status == 0 && silent.errors.isEmpty, "\(silent)")
  }

  @Test("A missing price book or decisions file stops only commands that need it")
  func goneLists() throws {
    #expect(try program.run(run).status == 0)
    try program.folder.write("prices: gone.csv\ndecisions: gone.yaml\n", to: "gone.conf")
    let config = ["--config", "gone.conf"]
    for command in [
      ["status"], ["verify"], ["backup", "copy.sqlite"], ["ingest", "--archives", "in"],
      ["explain", "revenue_monthly", "charges"], ["prune", "--before", "2026-01", "--dry-run"],
    ] {
      let result = try program.run(command + config)
      #expect(result.status == 0, "\(command): \(result)")
    }
    for command in [run, ["report"], ["drill"]] {
      let result = try program.run(command + config)
      #expect(result.status == 66 && result.errors.contains("gone.csv"), "\(command): \(result)")
    }
  }

  @Test("A temporary folder that is not writable is a permission error")
  func closedTemporaryFolder() throws {
    try expect(run + ["--dry-run"], 77, "TMPDIR", environment: ["TMPDIR": "/sys"])
  }

  @Test("An invalid configuration ends with 78, naming file and key")
  func configuration() throws {
    try program.folder.write("retry_horizont: 60d\n", to: "typo.yaml")
    try expect(run + ["--config", "typo.yaml"], 78, "typo.yaml", "`retry_horizont`")
    try program.folder.write("renewal_gap: soon\n", to: "soon.yaml")
    try expect(run + ["--config", "soon.yaml"], 78, "soon.yaml", "`renewal_gap`", "24h")
    try program.folder.write("products: [\n", to: "torn.yaml")
    try expect(run + ["--config", "torn.yaml"], 78, "torn.yaml", "YAML")
    try expect(run + ["--config", "absent.yaml"], 78, "absent.yaml", "--config")
  }

  @Test("A price book with a wrong line ends with 78, naming line, column and reason")
  func prices() throws {
    let header = "store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,"
    try program.folder.write(
      "\(header)period\n,a,,eur,2026-01-01,1,,,\n,b,,,soon,1,,,\n", to: "prices.csv")
    let reported = ["prices.csv, line 2, column 4: currency", "prices.csv, line 3, column 5"]
    try expect(run + ["--prices", "prices.csv"], 78, reported[0], reported[1])
    try expect(run, 78, reported[0], environment: ["SUBLEDGER_PRICES": "prices.csv"])
    try program.folder.write("prices: prices.csv\n", to: "prices.yaml")
    try expect(run + ["--config", "prices.yaml"], 78, reported[0])
    try expect(run + ["--prices", "absent.csv"], 66, "absent.csv", "--prices")
    try expect(run + ["--prices", "in"], 77, "Is a directory")
  }

  @Test("A hint names the source of a path: the flag, the variable or the line of the file")
  func saidPaths() throws {
    for (option, file) in [("prices", "no.csv"), ("decisions", "no.yaml")] {
      let variable = "SUBLEDGER_\(option.uppercased())"
      try program.folder.write("\(option): \(file)\n", to: "said.yaml")
      try expect(run + ["--\(option)", file], 66, file, "given with option --\(option)")
      try expect(
        run + ["--config", "said.yaml"], 66, file,
        "given with said.yaml:1")
      try expect(
        run, 66, file, "given with \(variable)",
        environment: [variable: file])
    }
    try expect(
      run, 78, "no.yaml", "given with SUBLEDGER_CONFIG",
      environment: ["SUBLEDGER_CONFIG": "no.yaml"])
  }

  @Test("An unwritable path ends with 73 and is named")
  func output() throws {
    try program.folder.write("a file", to: "file")
    try expect(run + ["--out", "file/reports"], 73, "folder file", "--out")
    try expect(run + ["--out", "file"], 73, "file")
    #expect(try program.text(of: "file") == "a file")
  }

  @Test("An invalid ledger is distinguished from one of a newer version")
  func wrongLedger() throws {
    try program.folder.write("not a database, only text that is long enough\n", to: "text.sqlite")
    try expect(run + ["--ledger", "text.sqlite"], 65, "text.sqlite: the file is not a ledger")
    #expect(try program.text(of: "text.sqlite").hasPrefix("not a database"))
    try expect(run + ["--ledger", "absent/ledger.sqlite"], 73, "absent/ledger.sqlite")
  }

  @Test("Help and version are printed to standard output")
  func help() throws {
    for arguments in [["--help"], ["run", "--help"], ["--version"]] {
      let result = try program.run(arguments).ended(0)
      #expect(!result.output.isEmpty)
      #expect(result.errors.isEmpty)
    }
    let simulate = try program.run(["simulate", "--help"]).output
    let words = simulate.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("never delivered, per million. (default: 2000)"))
  }

  /// The help of a command and its subcommands.
  private func helpTexts(of command: [String] = []) throws -> [String] {
    let text = try program.run(command + ["--help"]).output
    let list = text.components(separatedBy: "SUBCOMMANDS:\n").dropFirst().first ?? ""
    let names = list.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }.filter { $0 != "See" }
    return try [text] + names.flatMap { try helpTexts(of: command + [$0]) }
  }

  @Test("Help wraps no line before its 80th column, and no example or table")
  func wrappedHelp() throws {
    let texts = try helpTexts()
    #expect(texts.count > 25)
    for text in texts {
      let lines = text.components(separatedBy: "\nUSAGE")[0].components(separatedBy: "\n")
      for (line, next) in zip(lines, lines.dropFirst()) where !next.isEmpty && next.first != " " {
        let word = next.prefix { $0 != " " }
        #expect(
          line.isEmpty || line.first != " " && line.count + 1 + word.count >= 80, "\(line)\n\(next)"
        )
      }
    }
  }
}
