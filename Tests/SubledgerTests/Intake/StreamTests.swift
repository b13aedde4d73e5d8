import Foundation
import TestSupport
import Testing

@Suite("Standard streams that are closed, full or unread stop no run")
struct StreamTests {
  let program: Program

  init() throws {
    program = try Program()
    try program.folder.write(bodies(3) + "no event\n", to: "in/a.jsonl")
  }

  private let run = ["run", "--archives", "in", "--as-of", "2026-03-01", "--verbose"]

  /// Runs the program with `arguments` and the shell's `redirections` of streams, after `setup`.
  private func run(
    _ arguments: [String], _ redirections: String, after setup: String = ""
  ) throws -> Int32 {
    let script = "\(setup)exec \"$0\" \"$@\" \(redirections)"
    return try execute(
      ["sh", "-c", script, Program.binary.path] + arguments, in: program.folder.path
    ).status
  }

  @Test(
    "A run whose streams accept nothing still publishes",
    arguments: ["2>&-", "<&- >&- 2>&-", "2>/dev/full", "2>&1 | true"])
  func run(_ redirections: String) throws {
    _ = try run(run + ["--progress", "always"], redirections)
    #expect(try program.rows("inputs.csv").map { $0["accepted"] } == ["3"])
    let lock = try Data(
      contentsOf: URL(fileURLWithPath: program.folder.path("subledger.sqlite.lock")))
    #expect(lock.isEmpty, "words for standard error are in a file of the night")
  }

  @Test("A result that cannot be printed ends with 74", arguments: [">/dev/full", ">&-"])
  func answer(_ redirections: String) throws {
    #expect(try program.run(run).status == 0)
    #expect(try run(["status"], redirections + " 2>words") == 74)
    #expect(try program.text(of: "words").contains("cannot write to standard output"))
  }

  @Test(
    "A reader may stop early; output that was not written completely ends with 141",
    arguments: [
      (["explain", "revenue_monthly", "charges"], 141), (["explain", "--subscription", "7"], 66),
      (["status"], 0), (["verify"], 0), (["close", "2026-02", "--force", "--reason", "r"], 0),
    ])
  func unread(_ arguments: [String], _ status: Int) throws {
    #expect(try program.run(run).status == 0)
    // A pipe whose reading end is closed before the program starts.
    let unread = "mkfifo pipe && exec 3<>pipe 4>pipe 3>&- && "
    #expect(try run(arguments, ">&4 2>words", after: unread) == status)
    #expect(try program.text(of: "words").isEmpty == (status != 66))
  }

  @Test("A ledger whose creation was interrupted is empty for status, and the next run fills it")
  func begun() throws {
    try program.folder.write("", to: "subledger.sqlite")
    let empty = try program.run(["status"]).ended(66)
    #expect(empty.errors.contains("nothing was read"))
    #expect(try program.run(run).status == 0)
    #expect(try program.run(["status"]).output.contains(/accepted +3\n/))
  }

  @Test("Too few file handles end with 74 and a message, and more are enough", arguments: [12, 13])
  func handles(_ count: Int) throws {
    #expect(try run(run, "2>words", after: "ulimit -n \(count); ") == 74)
    let words = try program.text(of: "words")
    #expect(words.contains("subledger: cannot ") && words.contains("ulimit -n"), "\(words)")
    #expect(try program.run(run).status == 0)
  }

  @Test("A file size limit ends with 74 and a message")
  func longFile() throws {
    #expect(try run(run, "2>words", after: "ulimit -f 64; ") == 74)
    let words = try program.text(of: "words")
    #expect(words.contains("the ledger subledger.sqlite"), "\(words)")
    #expect(try program.run(run).status == 0)
  }

  @Test("SIGINT ends a simulation with 130, and an endless one is refused")
  func simulation() throws {
    let endless = try program.run(["simulate", "--out", "w", "--events", "\(Int.max)"])
    #expect(endless.status == 64 && endless.errors.contains("1,000,000,000"), "\(endless)")
    let running = try program.start(["simulate", "--out", "world", "--events", "100000"])
    let begun = program.folder.path("world/archives")
    while running.isRunning, !FileManager.default.fileExists(atPath: begun) { usleep(1000) }
    running.interrupt()
    running.waitUntilExit()
    #expect(running.terminationReason == .exit && running.terminationStatus == 130)
  }

  @Test("SIGTERM ends the wait for another run's lock with 143")
  func waiting() throws {
    let path = program.folder.path("subledger.sqlite.lock")
    let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
    defer { close(descriptor) }
    let waiting = try program.start(run + ["--lock-wait", "1000"])
    program.waitUntilAtLock(waiting)
    #expect(waiting.isRunning)
    waiting.terminate()
    waiting.waitUntilExit()
    #expect(waiting.terminationStatus == 143)
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("subledger.sqlite")))
  }
}
