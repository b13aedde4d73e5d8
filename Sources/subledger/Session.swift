import ArgumentParser
import Foundation
import Logging
import Pipeline
import Domain

/// One execution of the program: its log, progress bar, signals and exit code.
final class Session {
  private let options: LedgerOptions
  private let drawsProgress: Bool
  let stop = StopSignal()
  /// As the pipeline read them; a command that fails without one reads them for its error.
  private lazy var logOptions =
    GivenSettings(flags: options.given, environment: Self.environment).log
  private let clock = StepClock()

  init(_ options: LedgerOptions, drawsProgress: Bool = false) {
    self.options = options
    self.drawsProgress = drawsProgress
  }

  /// Whether only errors are wanted, by `--quiet` or `SUBLEDGER_QUIET`.
  var isQuiet: Bool { logOptions.level == .error }

  private var log: Logger {
    let handler = StandardErrorLog(
      logLevel: logOptions.level, format: logOptions.format, clock: clock)
    return Logger(label: "subledger") { _ in handler }
  }

  /// The pipeline for the command's options, the environment and the configuration.
  ///
  /// - Parameter flags: settings of this command in addition to those of every command.
  func pipeline(_ flags: [String: [String]] = [:]) throws -> RunPipeline {
    let given = settings(flags)
    let pipeline = pipeline(of: given)
    try given.check()
    return pipeline
  }

  func settings(_ flags: [String: [String]]) -> GivenSettings {
    GivenSettings(flags: options.given.merging(flags) { $1 }, environment: Self.environment)
  }

  /// The pipeline of settings that may be wrong.
  func pipeline(of given: GivenSettings) -> RunPipeline {
    logOptions = given.log
    let isDrawn = drawsProgress && !isQuiet
    let bar = ProgressBar(isDrawn ? logOptions.progress : .never)
    let report = { [clock] (progress: RunProgress) in
      clock.enter(progress.stage)
      bar.report(progress)
    }
    return RunPipeline(
      given, now: .now, version: Release.version, log: log, progress: report, stop: stop.read)
  }

  /// Does `work` with `pipeline`; prints the result of a dry run and, on a terminal, of a real one;
  /// notifies the monitor of the outcome, and of a failure only if `isWatched`.
  func reporting(
    _ pipeline: RunPipeline, isWatched: Bool = false, _ work: (RunPipeline) throws -> RunResult
  ) throws -> RunResult {
    // What was published stays so if the summary or the metrics cannot be written.
    var outcome: RunResult?
    do {
      let result = try work(pipeline)
      outcome = result
      StandardStreams.endDrawing()
      clock.enter(nil)
      try show(result, of: pipeline)
      let code = ExitStatus.of(result)
      if isWatched || result.hasMetrics { try writeMetrics(of: result, pipeline, code) }
      if isWatched { pipeline.notify(of: result, nil, exitCode: code) }
      return result
    } catch {
      let error = SubledgerError(error)
      if isWatched {
        let code = ExitStatus.of(error)
        do { try writeMetrics(of: outcome, pipeline, code) } catch { log.warning("\(error)") }
        pipeline.notify(of: outcome, error, exitCode: code)
      }
      throw error
    }
  }

  private func writeMetrics(
    of outcome: RunResult?, _ pipeline: RunPipeline, _ exitCode: Int32
  ) throws {
    try pipeline.writeMetrics(of: outcome, exitCode: exitCode, ended: .now, steps: clock.times)
  }

  private func show(_ outcome: RunResult, of pipeline: RunPipeline) throws {
    if let dryRun = outcome.dryRun { try StandardStreams.print(dryRun.joined(separator: "\n")) }
    guard let summary = outcome.summary else { return }
    try pipeline.write(summary, put: StandardStreams.put)
    if isatty(STDOUT_FILENO) != 0, !isQuiet {
      let tenths = clock.times.values.reduce(.zero, +) / .milliseconds(100)
      try StandardStreams.print(
        summary.line + "; \(Int(tenths) / 10).\(Int(tenths) % 10) s; \(summary.page)")
    }
  }

  /// Does `work` with the pipeline of these options, and prints its result.
  func print(
    _ flags: [String: [String]] = [:], _ work: (RunPipeline) throws -> String
  ) throws {
    try run { session in
      try StandardStreams.print(work(session.pipeline(flags)))
      return .done
    }
  }

  /// Runs `work` and turns its result or error into the exit code.
  func run(_ work: (Session) throws -> RunResult) throws {
    stop.listen()
    let outcome: RunResult
    do {
      outcome = try work(self)
    } catch {
      StandardStreams.endDrawing()
      let error = SubledgerError(error)
      let code = ExitStatus.of(error)
      // A reader who closes the output pipe is not an error.
      if error.kind != .stopped(SIGPIPE) { log.error("\(error)", metadata: ["code": "\(code)"]) }
      throw ExitCode(code)
    }
    guard !outcome.hasReservations else { throw ExitCode(ExitStatus.of(outcome)) }
  }

  static var environment: [String: String] { ProcessInfo.processInfo.environment }
}

extension Instant {
  static var now: Instant {
    Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
  }
}

/// The exit codes, which are decided only here.
///
/// Numbers above 63 follow sysexits(3).
enum ExitStatus {
  static func of(_ outcome: RunResult) -> Int32 { outcome.hasReservations ? 1 : 0 }

  static func of(_ error: SubledgerError) -> Int32 {
    switch error.kind {
    case .usage: 64
    case .damagedInput, .overflow: 65
    case .noInput: 66
    case .identity: 70
    case .cannotCreate: 73
    case .inputOutput: 74
    case .tryAgain: 75
    case .permission: 77
    case .configuration: 78
    case .stopped(let signal): 128 + signal
    }
  }
}
