import Foundation
import TestSupport
import Testing

@Suite("Files get no unnecessary permissions")
struct RightsTests {
  let program: Program

  init() throws { program = try Program(reading: bodies(3)) }

  private let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]

  private func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: program.folder.path(name))[.posixPermissions]
      as? Int
  }

  @Test("A file that is not a ledger keeps its permissions when named as one")
  func noLedger() throws {
    try program.folder.write("hi\n", to: "hosts")
    #expect(chmod(program.folder.path("hosts"), 0o644) == 0)
    for command in [run, ["report"]] {
      #expect(try program.run(command + ["--ledger", "hosts"]).status == 65)
      #expect(try mode("hosts") == 0o644)
    }
  }

  @Test(
    "Ledger and lock are private; reports follow the umask",
    arguments: [0, 0o22, 0o77])
  func umasks(umask: Int) throws {
    let watch = try Watch()
    for extra in [[], ["--dry-run", "--out", "dry"]] {
      try program.run(run + extra, environment: watch.environment, umask: umask).ended(0)
    }
    #expect(try mode("subledger.sqlite") == 0o600)
    #expect(try mode("subledger.sqlite.lock") == 0o600)
    for folder in ["reports", "reports/revenue_daily"] {
      #expect(try mode(folder) == 0o755 & ~umask, "\(folder)")
    }
    for file in try program.published().keys {
      #expect(try mode("reports/\(file)") == 0o644 & ~umask, "\(file)")
    }
    // Files copied into a private folder are protected by it.
    let closed = try watch.makes().filter { $0.what == "folder" && $0.mode == 0o700 }.map(\.path)
    #expect(closed.count == 2, "a dry run makes a folder for a ledger and one for a set")
    for made in try watch.makes() where !closed.contains(where: { made.path.hasPrefix("\($0)/") }) {
      #expect(made.mode & 0o022 == 0, "others may write \(made)")
      let isReport = made.path.contains(".staging-")
      // SQLite asks for 644 when it opens an existing ledger.
      let isOpened = made.path.hasSuffix("sqlite") && made.what == "file"
      #expect(made.mode & 0o077 == 0 || isReport || isOpened, "\(made)")
    }
    #expect(try watch.makes().contains { $0.path.contains(".staging-") })
  }

  @Test("A crashed run leaves no core file, whatever its limit was")
  func coreFile() throws {
    var given = rlimit()
    #expect(getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &given) == 0)
    var raised = rlimit(rlim_cur: given.rlim_max, rlim_max: given.rlim_max)
    #expect(setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &raised) == 0)
    defer { setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &given) }
    let descriptor = open(program.folder.path("subledger.sqlite.lock"), O_RDWR | O_CREAT, 0o600)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
    defer { close(descriptor) }
    let running = try program.start(
      run + ["--lock-wait", "60"], environment: ["SWIFT_BACKTRACE": "enable=no"])
    program.waitUntilAtLock(running)
    let limits = try String(
      contentsOfFile: "/proc/\(running.processIdentifier)/limits", encoding: .utf8)
    let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    #expect(core?.split(separator: " ").suffix(3) == ["0", "0", "bytes"], "\(limits)")
    // Sanitizers turn a fault into an exit of their own, and a child of these threads inherits
    // blocked SIGABRT and SIGQUIT.
    kill(running.processIdentifier, SIGSYS)
    running.waitUntilExit()
    #expect(running.terminationReason == .uncaughtSignal)
    let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.url.path)
    #expect(Set(names) == ["in", "subledger.sqlite.lock"])
  }

  @Test("A ledger open to everyone is closed to others by the next run")
  func openLedger() throws {
    try program.run(run)
    for (name, open) in [("subledger.sqlite", 0o664), ("subledger.sqlite.lock", 0o666)] {
      try FileManager.default.setAttributes(
        [.posixPermissions: open], ofItemAtPath: program.folder.path(name))
    }
    try program.folder.write(bodies(3, from: 10), to: "in/b.jsonl")
    #expect(try program.run(run, umask: 0).status == 0)
    #expect(try mode("subledger.sqlite") == 0o660, "the group's rights may be meant")
    #expect(try mode("subledger.sqlite.lock") == 0o660)
  }

  /// Runs a copy of the program as a user whom file permissions restrict, unlike root.
  private func runHeldBack(_ arguments: [String]) throws -> ProgramResult {
    let script = """
      cp "$0" subledger && chmod 777 . subledger && export TMPDIR="$PWD" || exit
      if [ "$(id -u)" != 0 ]; then exec ./subledger "$@" >words 2>&1; fi
      exec setpriv --reuid=65534 --clear-groups ./subledger "$@" >words 2>&1
      """
    let ended = try execute(
      ["sh", "-c", script, Program.binary.path] + arguments, in: program.folder.path)
    let words = try program.text(of: "words")
    return ProgramResult(status: ended.status, output: "", errors: words)
  }

  @Test(
    "An unreadable ledger ends reading commands with 77", arguments: ["status", "verify"])
  func foreignLedger(command: String) throws {
    #expect(try program.run(run).status == 0)
    #expect(chmod(program.folder.path("subledger.sqlite"), 0) == 0)
    let ended = try runHeldBack([command, "--ledger", "subledger.sqlite"]).ended(77)
    #expect(ended.errors.contains("cannot read the ledger subledger.sqlite: Permission denied"))
  }

  @Test("A previous set that cannot be removed gives a warning, and stops neither run")
  func foreignSet() throws {
    try runHeldBack(run).ended(0)
    let closed = program.folder.path("reports/revenue_daily")
    #expect(chmod(closed, 0o555) == 0)
    for count in [10, 20] {
      try program.folder.write(bodies(3, from: count), to: "in/\(count).jsonl")
      #expect(chmod(program.folder.path("in/\(count).jsonl"), 0o644) == 0)
      let next = try runHeldBack(run).ended(0)
      #expect(next.errors.contains("a previous set could not be removed completely"), "\(next)")
      #expect(try program.rows("inputs.csv").count == count / 10 + 1)
      try runHeldBack(["verify"]).ended(0)
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: program.folder.path("."))
    where name.hasPrefix(".reports.staging-") {
      #expect(chmod(program.folder.path("\(name)/revenue_daily"), 0o755) == 0)
    }
    let last = try runHeldBack(run)
    #expect(last.status == 0 && last.errors.isEmpty, "\(last)")
    let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.path("."))
    #expect(!names.contains { $0.hasPrefix(".reports.staging-") }, "\(names)")
  }

  @Test("An unreadable folder of archives ends with 77, and nothing is done")
  func foreignArchives() throws {
    try program.folder.write("", to: "in/closed/b.jsonl")
    #expect(chmod(program.folder.path("in/closed"), 0) == 0)
    defer { chmod(program.folder.path("in/closed"), 0o700) }
    let ended = try runHeldBack(run).ended(77)
    #expect(ended.errors.contains("cannot list in/closed: Permission denied"), "\(ended)")
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("reports")))
  }

  @Test("An unreadable file is reported, the others are read, and the exit code is 1")
  func oneForeignFile() throws {
    try program.folder.write(bodies(3, from: 10), to: "in/b.jsonl")
    #expect(chmod(program.folder.path("in/a.jsonl"), 0) == 0)
    let ended = try runHeldBack(run).ended(1)
    #expect(ended.errors.contains("in/a.jsonl: Permission denied; it is left out"), "\(ended)")
    #expect(try program.rows("inputs.csv").map { $0["archive"] } == ["b.jsonl"])
    try FileManager.default.removeItem(atPath: program.folder.path("in/b.jsonl"))
    #expect(try runHeldBack(run + ["--ledger", "n.sqlite", "--out", "n"]).status == 77)
  }

  @Test("An unreadable archive is reported with the reason, not as missing")
  func foreignArchive() throws {
    try program.folder.write(bodies(3, from: 10), to: "in/b.jsonl")
    #expect(try program.run(run).status == 0)
    #expect(chmod(program.folder.path("in/a.jsonl"), 0) == 0)
    #expect(chmod(program.folder.path("subledger.sqlite"), 0o644) == 0)
    try FileManager.default.removeItem(atPath: program.folder.path("in/b.jsonl"))
    let words = try runHeldBack(["verify", "--replay", "--ledger", "subledger.sqlite"])
      .ended(65).errors
    let replay = words.split(separator: "\n").drop { !$0.contains("replay.events") }
    #expect(replay.contains { $0.hasSuffix("1 archive missing: b.jsonl") }, "\(words)")
    #expect(replay.contains { $0.contains("in/a.jsonl: Permission denied") }, "\(words)")
  }

  @Test("A dry run without a ledger leaves nothing, not even a lock")
  func untouched() throws {
    #expect(try program.run(run + ["--dry-run"]).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.url.path)
    #expect(names == ["in"])
    let nowhere = try program.run(run + ["--dry-run", "--ledger", "gone/l.sqlite"])
    #expect(nowhere.status == 73 && nowhere.errors.contains("the ledger's folder"), "\(nowhere)")
  }

  @Test("A published folder and foreign files in it keep their changed permissions")
  func closedFolder() throws {
    try program.run(run)
    try program.folder.write("x", to: "reports/notes/own.txt")
    for (name, rights) in [
      ("reports", 0o700), ("reports/notes", 0o700), ("reports/notes/own.txt", 0o640),
    ] {
      try FileManager.default.setAttributes(
        [.posixPermissions: rights], ofItemAtPath: program.folder.path(name))
    }
    try program.folder.write(bodies(3, from: 10), to: "in/b.jsonl")
    #expect(try program.run(run, umask: 0).status == 0)
    #expect(try mode("reports") == 0o700)
    #expect(try mode("reports/notes") == 0o700)
    #expect(try mode("reports/notes/own.txt") == 0o640)
  }
}
