import Foundation
import TestSupport
import Testing

private let hasSpark = ProcessInfo.processInfo.environment["SPARK_HOME"] != nil

@Suite("A run on Spark", .serialized)
struct SparkTests {
  @Test(
    "Spark publishes the bytes of a run on one machine, run after run",
    .enabled(if: hasSpark, "SPARK_HOME is not set"))
  func sameBytes() throws {
    let program = try Program()
    let sample = Project.root.appendingPathComponent("sample-data")
    let archives = try FileManager.default.contentsOfDirectory(
      atPath: sample.appendingPathComponent("archives").path
    ).sorted()
    for (night, files) in [archives.prefix(4), archives.dropFirst(4)].enumerated() {
      for file in files {
        let bytes = try Data(contentsOf: sample.appendingPathComponent("archives/\(file)"))
        try program.folder.write([UInt8](bytes), to: "in/\(file)")
      }
      for (engine, options) in [("embedded", [String]()), ("spark", ["--master", "local[2]"])] {
        try program.run(
          [
            "run", "--archives", "in", "--as-of", "2026-03-0\(night + 1)", "--config",
            sample.appendingPathComponent("subledger.yaml").path, "--prices",
            sample.appendingPathComponent("prices.csv").path, "--snapshots",
            sample.appendingPathComponent("snapshots").path, "--ledger", engine, "--out",
            "out/\(engine)", "--engine", engine,
          ] + options
        ).ended(0, 1)
      }
      #expect(
        try program.published(in: "out/spark") == program.published(in: "out/embedded"),
        "night \(night)")
    }
  }

  @Test("Without Spark the error says what to install")
  func missing() throws {
    let program = try Program()
    try program.folder.write("{}\n", to: "in/a.jsonl")
    let result = try program.run(
      ["run", "--archives", "in", "--engine", "spark"],
      environment: ["SPARK_HOME": program.folder.path("nowhere")]
    ).ended(78)
    #expect(result.errors.contains("pip install pyspark"))
  }

  @Test("A lake that cannot be listed is an error, not an empty one")
  func unreadable() throws {
    let program = try Program()
    try program.folder.write("{}\n", to: "in/a.jsonl")
    try program.folder.write("", to: "lake/events")
    let result = try program.run(["run", "--archives", "in", "--engine", "spark", "--lake", "lake"])
    #expect(result.status == 74)
    #expect(result.errors.contains("lake/events: Not a directory"))
    #expect(result.errors.contains("check the disk and its permissions"))
  }

  @Test("A ledger cannot change its engine")
  func mixing() throws {
    let program = try Program()
    let sample = Project.root.appendingPathComponent("sample-data/archives/part-0001.jsonl.gz")
    let arguments = ["run", "--archives", sample.path, "--as-of", "2026-03-01"]
    try #require(try program.run(arguments).status == 0)
    let result = try program.run(arguments + ["--engine", "spark"]).ended(64)
    #expect(result.errors.contains("its events are stored in the ledger itself"))
    #expect(result.errors.contains("subledger move --engine spark"))
  }

  @Test("A stage refuses a job of another version", arguments: ["{}", "x"])
  func job(text: String) throws {
    let program = try Program()
    try program.folder.write(text, to: "job.json")
    let result = try program.run(["stage", "fold", "--job", "job.json"]).ended(78)
    #expect(result.errors.contains("job.json: another version wrote it"), "\(result)")
  }
}
