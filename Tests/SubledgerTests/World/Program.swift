import Foundation
import TestSupport
import Testing

/// The result of one call of the real binary.
struct ProgramResult: CustomStringConvertible {
  let status: Int32
  let output: String
  let errors: String

  var description: String { "status \(status)\nstdout: \(output)\nstderr: \(errors)" }

  /// This result, whose status must be one of `statuses`.
  @discardableResult
  func ended(
    _ statuses: Int32..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> ProgramResult {
    try #require(statuses.contains(status), "\(self)", sourceLocation: sourceLocation)
    return self
  }
}

/// The built program, run in a separate folder.
struct Program {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The program with an archive of these lines in the folder `in`.
  init(reading lines: String) throws {
    try self.init()
    try folder.write(lines, to: "in/a.jsonl")
  }

  /// The program in a new folder with a copy of another's files.
  init(copying other: Program) throws {
    folder = try TemporaryFolder(copying: other.folder)
  }

  /// Runs `subledger` with `arguments` in the folder, with `umask` if given, and waits for it.
  @discardableResult
  func run(
    _ arguments: [String], environment: [String: String] = [:], umask: Int? = nil
  ) throws -> ProgramResult {
    let process = process(arguments, environment)
    if let umask {
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      let command = "umask \(String(umask, radix: 8)); exec \"$0\" \"$@\""
      process.arguments = ["-c", command, Self.binary.path] + arguments
    }
    let outputPath = folder.path(".stdout-\(UUID().uuidString)")
    let errorPath = folder.path(".stderr-\(UUID().uuidString)")
    for path in [outputPath, errorPath] { try Data().write(to: URL(fileURLWithPath: path)) }
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath))
    let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: errorPath))
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    process.waitUntilExit()
    defer {
      for path in [outputPath, errorPath] { try? FileManager.default.removeItem(atPath: path) }
    }
    return ProgramResult(
      status: process.terminationStatus,
      output: try String(contentsOfFile: outputPath, encoding: .utf8),
      errors: try String(contentsOfFile: errorPath, encoding: .utf8))
  }

  /// Starts `subledger` in the folder without waiting, and discards its output.
  func start(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Process {
    let process = process(arguments, environment)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Waits until `process` has opened the ledger's lock, and so handles signals, or has ended.
  func waitUntilAtLock(_ process: Process) {
    let folder = "/proc/\(process.processIdentifier)/fd"
    func isAtLock() -> Bool {
      let open = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return open.contains {
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        return target?.hasSuffix("/subledger.sqlite.lock") ?? false
      }
    }
    while process.isRunning, !isAtLock() { usleep(1000) }
  }

  private func process(_ arguments: [String], _ environment: [String: String]) -> Process {
    let process = Process()
    process.executableURL = Self.binary
    process.arguments = arguments
    process.currentDirectoryURL = folder.url
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SUBLEDGER_") }
    variables.merge(environment) { $1 }
    process.environment = variables
    process.standardInput = FileHandle.nullDevice
    return process
  }

  /// The text of the file `name` in the folder.
  func text(of name: String) throws -> String {
    try String(contentsOfFile: folder.path(name), encoding: .utf8)
  }

  /// The rows of a published CSV, by column name.
  func rows(_ file: String, in out: String = "reports") throws -> [[String: String]] {
    try readCSV(folder.path("\(out)/\(file)"))
  }

  /// The sums of deliveries, distinct events and exact duplicates over all days.
  func deliveries() throws -> [Int] {
    let files = try published().keys.filter { $0.hasPrefix("deliveries_daily/") }
    let rows = try files.flatMap { try self.rows($0) }
    return ["delivered", "distinct_events", "duplicates_exact"].map { column in
      rows.reduce(0) { $0 + (Int($1[column] ?? "") ?? 0) }
    }
  }

  /// Publishes `lines` in one run into `one/out`, and in reverse order by one run per line into
  /// `many/out`.
  func publishBothWays(_ lines: [String], asOf: String) throws {
    let parts = [("one", [lines.joined(separator: "\n")]), ("many", lines.reversed())]
    for (folder, runs) in parts {
      for (number, part) in runs.enumerated() {
        try self.folder.write(part + "\n", to: "\(folder)/in/\(number).jsonl")
        try run([
          "run", "--archives", "\(folder)/in", "--as-of", asOf, "--ledger", "\(folder)/l",
          "--out", "\(folder)/out",
        ]).ended(0, 1)
      }
    }
  }

  /// Every published file with its bytes, except `names`.
  func published(in out: String = "reports", except names: [String] = []) throws -> [String: Data] {
    try filesAndBytes(under: folder.path(out)).filter { file in
      !names.contains { file.key.hasPrefix($0) }
    }
  }

  /// The program in `TESTED_PROGRAM`, or the one built with the tests.
  static let binary: URL = {
    if let program = ProcessInfo.processInfo.environment["TESTED_PROGRAM"] {
      return URL(fileURLWithPath: program)
    }
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let tests = bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])
    return tests.deletingLastPathComponent().appendingPathComponent("subledger")
  }()
}

/// Every file under `folder` by its relative path.
func filesAndBytes(under folder: String) throws -> [String: Data] {
  var files: [String: Data] = [:]
  let root = URL(fileURLWithPath: folder)
  for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
    let url = root.appendingPathComponent(path)
    guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
      continue
    }
    files[path] = try Data(contentsOf: url)
  }
  return files
}

/// The rows of a CSV file by column name; RFC 4180.
func readCSV(_ path: String) throws -> [[String: String]] {
  let rows = csvRows(of: try String(contentsOfFile: path, encoding: .utf8))
  guard let header = rows.first else { return [] }
  #expect(rows.allSatisfy { $0.count == header.count }, "each row of \(path) has all columns")
  return rows.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
}

extension Program {
  /// A run of the sample.
  static let sampleRun =
    [
      "run", "--archives", Project.path("sample-data/archives"),
      "--snapshots", Project.path("sample-data/snapshots"), "--as-of", "2026-03-01",
    ] + sampleSettings

  static let sampleSettings = [
    "--config", Project.path("sample-data/subledger.yaml"),
    "--prices", Project.path("sample-data/prices.csv"),
  ]

  /// The sample's ledger and reports, created once; tests that write copy it.
  static let ofSample = Result {
    let program = try Program()
    try program.run(sampleRun).ended(0)
    return program
  }
}
