import ArgumentParser
import Domain
import Pipeline

struct StageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stage",
    abstract: "Run one stage on Spark: rows in, rows out.",
    discussion: """
      Spark calls it; docs/stages.md describes the rows.
      """)

  @Argument(help: "normalise, merge, fold or reconcile.")
  var stage: String

  @Option(help: "File of the stage's job, written by the driver.")
  var job: String

  func run() throws {
    do {
      guard let stage = Stage(rawValue: stage) else {
        throw SubledgerError(.usage, "there is no stage \(self.stage)")
      }
      var waiting: [UInt8] = []
      try RunPipeline.run(stage, job: job, version: Release.version) { row in
        waiting += Array(row.utf8) + [UInt8(ascii: "\n")]
        guard waiting.count > 1 << 16 else { return }
        try StandardStreams.put(waiting)
        waiting.removeAll(keepingCapacity: true)
      }
      try StandardStreams.put(waiting)
    } catch {
      let error = SubledgerError(error)
      StandardStreams.mention("subledger: error: \(error)\n")
      throw ExitCode(ExitStatus.of(error))
    }
  }
}
