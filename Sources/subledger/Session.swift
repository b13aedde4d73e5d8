import ArgumentParser
import Foundation
import Logging
import Pipeline
import Domain

/// One call of the program: its log, its progress bar, its signals and its exit code.
final class Session {
  private let options: LedgerOptions
  private let drawsProgress: Bool
  let stop = StopSignal()
  private var talk = LogOptions()

  init(_ options: LedgerOptions, drawsProgress: Bool = false) {
    self.options = options
    self.drawsProgress = drawsProgress
  }

  private var log: Logger {
    let format = talk.format
    var log = Logger(label: "subledger") { _ in StandardErrorLog(format: format) }
    log.logLevel = talk.isQuiet ? .error : talk.isVerbose ? .info : .warning
    return log
  }

  /// The night that the command's flags, the environment and the configuration ask for; `fill` adds
  /// what the command has besides the options of every one.
  func night(_ fill: (inout Options) -> Void = { _ in }) throws(SubledgerError) -> RunPipeline {
    var flags = options.flags
    fill(&flags)
    let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    let plan = try Plan(flags: flags, environment: Self.environment, now: now)
    talk = plan.talk
    try FileHandles.require(jobs: plan.jobs)
    return RunPipeline(
      plan: plan, version: Release.version, log: log,
      progress: ProgressBar(drawsProgress ? talk.progress : .never).report, stop: stop.read)
  }

  /// Does `work` with `night`, and says where its processor time went when that was asked for,
  /// and what a dry run came to.
  func timed(
    _ night: RunPipeline, _ timing: TimingOptions, _ work: (RunPipeline) throws -> RunResult
  ) throws -> RunResult {
    let outcome = try work(night)
    if timing.timings { log.warning("\(night.stageTimes)") }
    if let dryRun = outcome.dryRun { try StandardStreams.tell(dryRun.text) }
    return outcome
  }

  /// Does `work` with the night that is asked for, and prints its answer.
  func tell(
    _ fill: (inout Options) -> Void = { _ in }, _ work: (RunPipeline) throws -> String
  ) throws {
    try run { session in
      try StandardStreams.tell(work(session.night(fill)))
      return .done
    }
  }

  /// Runs `work` and turns what comes of it into the exit code.
  func run(_ work: (Session) throws -> RunResult) throws {
    stop.listen()
    let outcome: RunResult
    do {
      talk = try LogOptions(flags: options.flags, environment: Self.environment)
      try FileHandles.require(jobs: 1)
      outcome = try work(self)
    } catch let error as SubledgerError {
      if !error.isUnread { log.error("\(error)") }
      throw ExitCode(ExitStatus.of(error))
    }
    guard !outcome.hasReservations else { throw ExitCode(ExitStatus.reservations) }
  }

  private static var environment: [String: String] { ProcessInfo.processInfo.environment }
}

extension SubledgerError {
  /// Whether nobody reads the output any more: whoever closed the pipe has what they wanted.
  var isUnread: Bool { if case .stopped(SIGPIPE) = kind { true } else { false } }
}
