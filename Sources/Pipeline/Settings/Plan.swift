import Domain
import EventStore
import Formats
import Foundation
import Providers
import Reports

/// Everything a run does, checked and fixed before it begins.
///
/// The settings are its members: `plan.ledger` is that of its configuration.
@dynamicMemberLookup
struct Plan: Sendable {
  /// The breaks that change the exit code.
  enum FailOn: String, CaseIterable, Sendable {
    /// Breaks never change the exit code.
    case none
    /// Any break, including those whose event can still arrive.
    case pending
    /// Breaks whose event can no longer arrive.
    case open
    /// Open breaks of the highest severity.
    case critical
  }

  enum Engine: String, CaseIterable, Sendable {
    /// Events are stored in the ledger, and read by threads of this process.
    case embedded
    /// Events are stored in a lake, and read by processes of Apache Spark.
    case spark
  }

  var configuration: Configuration
  /// The settings as given on the command line.
  let flags: [String: [String]]
  /// The variables of the process, including secrets.
  let environment: [String: String]
  /// Capture time of snapshots without one.
  var capturedAt: Instant?
  /// The time of the clock, as the command read it.
  let now: Instant
  /// Whether as-of was given, not taken from the clock.
  var hasExplicitAsOf: Bool
  /// As-of, time zone and the settings for reading events; periods are added per ledger.
  var rules: FoldSettings
  /// Access to archives that are not files.
  var sources = ArchiveSources()
  /// Prices for charges whose provider sends no money; nil if none are given, or not read yet.
  var prices: PriceBookFile?
  var decisions = DecisionsFile()

  /// Creates the plan of settings, whatever their errors.
  init(_ given: GivenSettings, now: Instant) {
    var configuration = given.configuration
    configuration.job.ledger = linksFollowed(configuration.job.ledger)
    // Copies of the ledger have the same lake.
    configuration.job.lake = configuration.job.lake ?? configuration.job.ledger + ".lake"
    self.configuration = configuration
    (flags, environment) = (given.flags, given.environment)
    sources.commands = configuration.job.readers
    let variables = environment.filter { !$0.key.hasPrefix("SUBLEDGER_") }
      .map { "\($0.key)=\($0.value)" }
    for index in sources.commands.indices { sources.commands[index].environment = variables }
    let calendar = configuration.timezone
    self.now = now
    hasExplicitAsOf = configuration.asOf != nil
    rules = FoldSettings(
      asOf: configuration.asOf?.instant(in: calendar) ?? now, calendar: calendar)
    rules.take(configuration)
    capturedAt = configuration.capturedAt?.instant(in: calendar)
  }

  /// A setting that does not affect the numbers.
  subscript<Value>(dynamicMember path: WritableKeyPath<Configuration.Job, Value>) -> Value {
    get { configuration.job[keyPath: path] }
    set { configuration.job[keyPath: path] = newValue }
  }

  /// A setting that affects the numbers.
  subscript<Value>(dynamicMember path: WritableKeyPath<Configuration, Value>) -> Value {
    get { configuration[keyPath: path] }
    set { configuration[keyPath: path] = newValue }
  }

  /// Returns this plan with the price book, the decisions and the reports that it names.
  ///
  /// They are read only by commands that use them: a missing file does not affect others.
  func withLists() throws -> Plan {
    var plan = self
    try requireOwnOutputs()
    try plan.readPrices()
    try plan.readDecisions()
    try plan.readCustomReports()
    return plan
  }

  mutating func readPrices() throws(SubledgerError) {
    guard let file = configuration.job.prices else { return }
    let bytes = try fileContents(of: "the price book", at: file.path, givenWith: file.place)
    prices = try PriceBookFile(bytes, named: file.path, calendar: rules.calendar)
  }

  mutating func readDecisions() throws(SubledgerError) {
    guard let file = configuration.job.decisions else { return }
    let bytes = try fileContents(of: "the decisions", at: file.path, givenWith: file.place)
    decisions = try DecisionsFile(bytes, named: file.path)
  }
}

extension FoldSettings {
  /// Applies the settings of a configuration that differ from the defaults.
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
  /// Returns how bodies are read, with the secrets for their authentication.
  func normaliseRules() throws(SubledgerError) -> NormaliserSettings {
    var rules = configuration.reading
    for provider in configuration.secrets.keys {
      rules.secrets[provider] = try secrets(of: provider)
    }
    return rules
  }

  /// Size of the ledger with its write-ahead log, in bytes.
  var ledgerBytes: Int64 {
    LedgerFiles(of: configuration.job.ledger).content.reduce(0) { sum, path in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return sum + Int64((attributes?[.size] as? Int) ?? 0)
    }
  }

  /// The path of the published folder in the form that the ledger stores: absolute, because
  /// folders of one name can be in different places.
  var folder: String { URL(fileURLWithPath: configuration.job.out).standardizedFileURL.path }

  /// Files and folders of the job itself, which are not input.
  ///
  /// The files of a set are recognised by name, because an interrupted one has no list of them.
  var ownPlaces: [String] {
    let job = configuration.job
    let set = (reportPaths + documentPaths).map { "\(job.out)/\($0)" }
    let keys = job.fetch.sources.values.compactMap(\.key)
    let secrets = (configuration.secrets.values.joined() + keys).compactMap { source -> String? in
      if case .file(let path) = source { path } else { nil }
    }
    let settings = [
      configuration.path, job.prices?.path, job.decisions?.path, job.reportsDir?.path,
      job.summary?.path, job.metrics?.path, job.fetch.authorities?.path,
    ].compactMap(\.self)
    return [job.out] + set + LedgerFiles(of: job.ledger).all + settings + secrets
  }

  /// Throws if the metrics or the summary would replace another file of the job, or each other.
  func requireOwnOutputs() throws(SubledgerError) {
    for output in [configuration.job.metrics, configuration.job.summary].compactMap(\.self) {
      try requireOwn(output)
    }
  }

  func requireOwn(_ output: GivenPath) throws(SubledgerError) {
    let places = ownPlaces + configuration.job.archives + configuration.job.snapshots
    guard output.path != "-", places.count(where: { isSameFile($0, output.path) }) > 1 else {
      return
    }
    throw SubledgerError(
      .usage, "cannot write \(output.path.shown()): another setting names this file",
      hint: "give \(output.place) a file of its own, which each run replaces")
  }

  /// Whether a file that was last written then may still be written.
  func isTooYoung(_ written: Instant?) -> Bool {
    let minAge = Int64(configuration.job.minAge)
    return minAge > 0 && written.map { $0 > now - .seconds(minAge) } ?? false
  }

  /// Lists the archives of one kind, without those of the other kind and the job's own files.
  func files(
    of kind: ArchiveKind, stop: @escaping @Sendable () -> Int32 = { 0 }
  ) throws(SubledgerError) -> ArchiveListing {
    let job = configuration.job
    let (paths, rest) = kind == .events ? (job.archives, job.snapshots) : (job.snapshots, [])
    return try ArchiveFolder.files(under: paths, except: ownPlaces + rest, by: sources, stop: stop)
  }
}

extension Plan {
  /// Returns the files that affect the numbers, for the ledger to store.
  func documents() -> RunDocuments {
    var documents = RunDocuments()
    documents.configuration = configuration.source.map { Document($0) }
    documents.prices = (prices?.source).map { Document($0) }
    documents.decisions = decisions.source.map { Document($0) }
    return documents
  }
}

extension Document {
  init(_ content: [UInt8]) {
    self.init(sha256: Formats.sha256(of: content), body: gzipMember(of: content))
  }

  /// Returns the content of the document.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` when its content does not match its SHA-256.
  func content() throws(SubledgerError) -> [UInt8] {
    if let content = gzipContent(of: body, bytesMax: writtenBytesMax),
      Formats.sha256(of: content) == contentSHA256
    {
      return content
    }
    throw SubledgerError(
      .damagedInput, "cannot read the document \(sha256) of the ledger: it is damaged",
      hint: "keep the file, and rebuild the ledger from the archives in a new one")
  }
}
