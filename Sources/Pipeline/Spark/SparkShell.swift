import Domain
import Foundation
import Glibc

/// A `spark-sql` process that runs one statement after the other.
final class SparkShell {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let log: String
  private let stop: @Sendable () -> Int32
  private var unread: [UInt8] = []
  private var marks = 0

  /// Starts Spark in `folder`; `log` is the file for its output.
  init(
    master: String, settings: [String: String], folder: String, log: String,
    stop: @escaping @Sendable () -> Int32
  ) throws {
    self.stop = stop
    self.log = log
    let environment = ProcessInfo.processInfo.environment
    process.executableURL = URL(fileURLWithPath: try Self.program(environment))
    let all = settings.sorted { $0.key < $1.key }.flatMap { ["--conf", "\($0.key)=\($0.value)"] }
    process.arguments = ["--master", master] + all
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle(forWritingAtPath: log)
    try process.run()
  }

  deinit {
    try? input.fileHandleForWriting.close()
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
  }

  /// Returns the path of `spark-sql` in `SPARK_HOME`, or the one on the path.
  private static func program(_ environment: [String: String]) throws(SubledgerError) -> String {
    let home = environment["SPARK_HOME"] ?? ""
    let folders =
      home.isEmpty
      ? (environment["PATH"] ?? "").split(separator: ":").map(String.init) : ["\(home)/bin"]
    for program in folders.map({ "\($0)/spark-sql" }) where access(program, X_OK) == 0 {
      return program
    }
    throw SubledgerError(
      .configuration,
      home.isEmpty
        ? "cannot start Spark: SPARK_HOME is not set, and spark-sql is not on the path"
        : "cannot start Spark: SPARK_HOME has no program bin/spark-sql",
      hint: """
        install Java 17 and Spark 4, say by `pip install pyspark`, and set SPARK_HOME to the \
        folder of the package
        """)
  }

  /// Runs statements up to the first that fails, and returns the lines that they print.
  func run(_ statements: [String]) throws -> [String] {
    marks += 1
    let (done, end) = ("subledger-done-\(marks)", "subledger-end-\(marks)")
    // Spark skips the rest of a line when a statement in it fails.
    let script =
      (statements + ["SELECT '\(done)'"]).joined(separator: "; ")
      .replacing("\n", with: " ") + ";\nSELECT '\(end)';\n"
    do {
      try input.fileHandleForWriting.write(contentsOf: Data(script.utf8))
    } catch {
      throw failure("it has ended")
    }
    var lines: [String] = []
    while let line = try nextLine() {
      guard line == end else {
        lines.append(line)
        continue
      }
      guard lines.contains(done) else { throw failure("a statement failed") }
      return lines
    }
    throw failure("it has ended")
  }

  private func nextLine() throws -> String? {
    let descriptor = output.fileHandleForReading.fileDescriptor
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeFirst(end + 1) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&wait, 1, 200) > 0 else {
        try SubledgerError.check(stop)
        continue
      }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return nil }
      unread += data
    }
  }

  /// Returns an error with Spark's message, and the exit code of a stage.
  private func failure(_ what: String) -> SubledgerError {
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    let lines = text.split(separator: "\n")
    let ofStage = lines.last { $0.contains("error: cannot") || $0.contains("subledger: ") }
    let ofSpark = lines.last { $0.contains(/Exception: |Error: |^Error|^\[[A-Z_.]+\]|^(ls|rm):/) }
    let cause = (ofStage ?? ofSpark).map { ": \($0.prefix(400))" } ?? ""
    return SubledgerError(
      .inputOutput, "cannot run on Spark: \(what)\(cause)",
      hint: "\(log.shown()) contains Spark's output; the lake is unchanged")
  }
}
