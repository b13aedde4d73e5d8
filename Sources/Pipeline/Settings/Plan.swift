import Domain
import EventStore
import Formats
import Foundation
import Providers
import Reports

/// Everything a run does, checked and fixed before it begins.
///
/// Settings are members of it: `plan.ledger` is that of its configuration.
@dynamicMemberLookup
struct Plan: Sendable {
  /// What gates the exit code.
  enum FailOn: String, CaseIterable, Sendable {
    /// Breaks never change the exit code.
    case none
    /// Any break, also one whose event can still come.
    case pending
    /// Breaks whose event can no longer come.
    case open
    /// Open breaks of the highest severity.
    case critical
  }

  enum Engine: String, CaseIterable, Sendable {
    /// In the ledger, by threads of this process.
    case embedded
    /// In a lake, by processes of Apache Spark.
    case spark
  }

  var configuration: Configuration
  /// The settings as the command line gave them.
  let flags: [String: [String]]
  /// The variables of the process, secrets among them.
  let environment: [String: String]
  /// Archives changed after this are left alone, for somebody may still write them; nil takes all.
  var modifiedUntil: Instant?
  /// Moment of snapshots that name none.
  var capturedAt: Instant?
  /// The clock, as the command read it.
  let now: Instant
  /// Whether as-of was given, rather than taken from the clock.
  var hasExplicitAsOf: Bool
  /// As-of, time zone and the settings that events are read with; periods are added per ledger.
  var rules: FoldSettings
  /// What lists and reads archives that are not files.
  var sources = ArchiveSources()
  /// For charges whose provider sends no money; nil when none is given, or it was not read.
  var prices: PriceBookFile?
  var decisions = DecisionsFile()

  /// The plan of flags, variables, the configuration file and defaults; see `RunPipeline.init`.
  init(
    flags: [String: [String]], environment: [String: String], now: Instant
  ) throws(SubledgerError) {
    self.init(
      try GivenSettings(flags: flags, environment: environment).accepted(),
      environment: environment, now: now, flags: flags)
  }

  init(
    _ configuration: Configuration, environment: [String: String], now: Instant,
    flags: [String: [String]] = [:]
  ) {
    var configuration = configuration
    configuration.job.ledger = linksFollowed(configuration.job.ledger)
    // Copies of the ledger have the same lake.
    configuration.job.lake = configuration.job.lake ?? configuration.job.ledger + ".lake"
    self.configuration = configuration
    (self.flags, self.environment) = (flags, environment)
    sources.commands = configuration.job.readers
    let variables = environment.filter { !$0.key.hasPrefix("SUBLEDGER_") }
      .map { "\($0.key)=\($0.value)" }
    for index in sources.commands.indices { sources.commands[index].environment = variables }
    let minAge = Int64(configuration.job.minAge)
    modifiedUntil = minAge == 0 ? nil : now - .seconds(minAge)
    let calendar = configuration.timezone
    self.now = now
    hasExplicitAsOf = configuration.asOf != nil
    rules = FoldSettings(
      asOf: configuration.asOf?.instant(in: calendar) ?? now, calendar: calendar)
    rules.take(configuration)
    capturedAt = configuration.capturedAt?.instant(in: calendar)
  }

  /// A setting without an effect on the numbers.
  subscript<Value>(dynamicMember path: WritableKeyPath<Configuration.Job, Value>) -> Value {
    get { configuration.job[keyPath: path] }
    set { configuration.job[keyPath: path] = newValue }
  }

  /// A setting with an effect on the numbers.
  subscript<Value>(dynamicMember path: WritableKeyPath<Configuration, Value>) -> Value {
    get { configuration[keyPath: path] }
    set { configuration[keyPath: path] = newValue }
  }

  /// This plan with the price book, the decisions and the reports that it names.
  ///
  /// Read only for what follows them: a list that is gone holds up nothing else.
  ///
  /// - Throws: `SubledgerError` when one cannot be read.
  func withLists() throws(SubledgerError) -> Plan {
    var plan = self
    try plan.readPrices()
    try plan.readDecisions()
    try plan.readOwnReports()
    return plan
  }

  mutating func readPrices() throws(SubledgerError) {
    guard let file = configuration.job.prices else { return }
    prices = try PriceBookFile.read(file.path, givenWith: file.place, calendar: rules.calendar)
  }

  mutating func readDecisions() throws(SubledgerError) {
    guard let file = configuration.job.decisions else { return }
    decisions = try DecisionsFile(path: file.path, givenWith: file.place)
  }
}

extension FoldSettings {
  /// Takes over what a configuration sets otherwise than the defaults.
  mutating func take(_ configuration: Configuration) {
    renewalGap = configuration.renewalGap ?? renewalGap
    retryHorizon = configuration.retryHorizon ?? retryHorizon
    deliveryWindows.merge(configuration.retrySchedules.mapValues(\.deliveryWindow)) { $1 }
    deliveryWindows.merge(configuration.deliveryWindows) { $1 }
    doubleCharges = configuration.doubleCharges
    let named = configuration.authority
    authority = named + authority.filter { !named.contains($0) }
  }
}

extension Plan {
  /// How bodies are read, with the secrets that they are compared with.
  func normaliseRules() throws(SubledgerError) -> NormaliserSettings {
    var rules = NormaliserSettings()
    rules.eventNames = configuration.eventNames
    rules.envelope = configuration.envelope
    rules.customerID = configuration.customerID
    for provider in configuration.secrets.keys {
      rules.secrets[provider] = try secrets(of: provider)
    }
    return rules
  }

  /// The size of the ledger with its write-ahead log.
  var ledgerBytes: Int64 {
    LedgerFiles(of: configuration.job.ledger).content.reduce(0) { sum, path in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return sum + Int64((attributes?[.size] as? Int) ?? 0)
    }
  }

  /// The published folder as the ledger keeps it.
  var folder: String { NSString(string: configuration.job.out).standardizingPath }

  /// Files and folders of the job itself, which are not input: the published folder and the files
  /// of a set in it, the ledger and files beside it, the files with settings, summary and metrics.
  ///
  /// The files of a set are known by their names, for one that was broken off names none of them.
  var ownPlaces: [String] {
    let job = configuration.job
    let set = (reportPaths + documentPaths).map { "\(job.out)/\($0)" }
    let keys = job.fetch.sources.values.compactMap(\.key)
    let secrets = (configuration.secrets.values.joined() + keys).compactMap { source -> String? in
      if case .file(let path) = source { path } else { nil }
    }
    let settings = [
      configuration.path, job.prices?.path, job.decisions?.path, job.reportsDir?.path,
      job.summary?.path, job.metrics?.path,
    ].compactMap(\.self)
    return [job.out] + set + LedgerFiles(of: job.ledger).all + settings + secrets
  }

  /// Lists the archives of one kind, which are neither of the other kind nor the job's own.
  func files(
    of kind: ArchiveKind, stop: @escaping @Sendable () -> Int32 = { 0 }
  ) throws(SubledgerError) -> ArchiveListing {
    let job = configuration.job
    let (paths, rest) = kind == .events ? (job.archives, job.snapshots) : (job.snapshots, [])
    return try ArchiveFolder.files(under: paths, except: ownPlaces + rest, by: sources, stop: stop)
  }
}
