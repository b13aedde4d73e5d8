import Domain
import Foundation
import Page
import Providers
import Yams

/// Every setting of the job: from flags, which override the environment, which overrides the
/// configuration file, which overrides the defaults.
struct Configuration: Sendable {
  /// Settings without an effect on the numbers: paths, and how the job runs.
  struct Job: Sendable {
    /// Files or folders of delivered events.
    var archives: [String] = []
    var snapshots: [String] = []
    var ledger = "subledger.sqlite"
    /// The folder of the published set.
    var out = "reports"
    var prices: GivenPath?
    /// What people decided about breaks.
    var decisions: GivenPath?
    /// A folder of reports that analysts wrote.
    var reportsDir: GivenPath?
    /// Where the summary of a run goes.
    var summary: GivenPath?
    /// Where a monitor reads how a run ended.
    var metrics: GivenPath?
    /// Threads that read archives, fold and write reports.
    var jobs = ProcessInfo.processInfo.activeProcessorCount
    /// What makes the exit code 1.
    var failOn = Plan.FailOn.none
    /// Seconds to wait for the lock.
    var lockWait = 0
    /// Seconds below which an archive counts as still being written.
    var minAge = 0
    /// Publish over a set of another ledger.
    var adopts = false
    /// Do everything except writing.
    var isDryRun = false
    /// What standard error shows.
    var log = LogOptions()
  }

  var job = Job()
  /// Business time of the reports; nil for now.
  var asOf: GivenTime?
  /// Time of snapshots that name none.
  var capturedAt: GivenTime?
  /// The days and months of the reports.
  var timezone = CivilCalendar.utc
  var csvDialect = CSVDialect.rfc4180
  /// How the page writes numbers.
  var locale = PageLocale.en
  /// Decimals of printed amounts; nil prints them exactly.
  var amountDecimals: Int?
  /// Whether the set has a workbook, too.
  var hasWorkbook = false
  /// Dashboard product id → store product ids.
  var products: [String: [String]] = [:]
  /// Store product id → period.
  var periods: [String: PeriodLength] = [:]
  /// The provider's event name → kind.
  var eventNames: [String: EventKind] = [:]
  /// Members of the project's own archives.
  var envelope = EnvelopeNames()
  /// Where webhooks carry the app's own id of a user; nil keeps none.
  var customerID: CustomerIDMember?
  var renewalGap: Interval?
  var retryHorizon: Interval?
  /// How old the newest input may be, where a feed's own past does not decide.
  var freshnessMax = FeedValues<Interval>()
  /// When feeds began, where their first delivery does not decide.
  var historyBegins = FeedValues<GivenTime>()
  var deliveryWindows: [Provider: Interval] = [:]
  /// Retry schedules of providers that differ from the published ones.
  var retrySchedules: [Provider: RetrySchedule] = [:]
  /// What becomes of a store transaction that is charged twice.
  var doubleCharges = DoubleChargePolicy.hold
  /// Whose report of a store transaction counts, of several.
  var authority: [Provider] = []
  var snapshotsAreComplete = false
  var snapshotsFromWebhooks = true
  var valueBytesMax: Int?
  var unreadableFiles = UnreadableFilePolicy.skip
  /// Share of rejected lines above which the set is qualified.
  var rejectedShare: Amount?
  /// Share of net revenue that open breaks may concern before the set is qualified.
  var materialityShare: Amount?
  /// A day of a feed is a gap when it is less likely than 1 in so many.
  var feedGapOdds = 1_000_000
  var secrets: [Provider: [SecretSource]] = [:]
  /// Amounts and ages from which a break has a severity.
  var severity = SeverityThresholds()
  /// Reports that analysts wrote, by name.
  var reports: [String: String] = [:]
  /// The file that was read; nil without one.
  var path: String?
  /// What of the file the ledger keeps; nil without a file.
  var source: [UInt8]?
}

extension Configuration {
  /// The settings that flags, variables and the configuration file give.
  ///
  /// - Parameter flags: the texts of each option of the command line, by the setting's name.
  /// - Throws: `SubledgerError` of kind `usage` or `configuration` for a value that is not
  ///   acceptable, also where another source overrides it.
  init(flags: [String: [String]], environment: [String: String]) throws(SubledgerError) {
    let flags = flags.map { name, texts in
      let nodes = texts.map { Node($0, .implicit, .doubleQuoted) }
      return SettingValue(name: name, node: nodes.count == 1 ? nodes[0] : Node(nodes), .flag)
    }
    let variables = try Self.variables(environment)
    let file = try (flags + variables).first { $0.name == "config" }?.path()
    let path = file?.path ?? "subledger.yaml"
    if file != nil || mayExist(path) {
      self = try Self.read(path, givenWith: file?.place ?? "--config")
    }
    try read(variables)
    try read(flags)
  }

  /// How to log before the configuration file is read.
  static func log(
    flags: [String: [String]], environment: [String: String]
  ) throws(SubledgerError) -> LogOptions {
    let isLog = { (name: String) in ["log_format", "verbose", "quiet"].contains(name) }
    var configuration = Configuration()
    try configuration.read(variables(environment).filter { isLog($0.name) })
    let texts = flags.filter { isLog($0.key) }.compactMapValues(\.first)
    try configuration.read(
      texts.map { SettingValue(name: $0, node: Node($1, .implicit, .doubleQuoted), .flag) })
    return configuration.job.log
  }

  /// The values of `SUBLEDGER_*` variables; lists are separated by colons, an empty variable is
  /// not set.
  ///
  /// `SUBLEDGER_SECRET_*` are free for secrets.
  private static func variables(
    _ environment: [String: String]
  ) throws(SubledgerError) -> [SettingValue] {
    let known = (["config"] + Setting.options.map(\.name)).map { "SUBLEDGER_\($0.uppercased())" }
    var values: [SettingValue] = []
    for (variable, text) in environment.sorted(by: { $0.key < $1.key })
    where variable.hasPrefix("SUBLEDGER_") && !variable.hasPrefix("SUBLEDGER_SECRET_") {
      guard known.contains(variable) else {
        throw SubledgerError(
          .usage,
          "unknown environment variable \(variable)\(suggestion(for: variable, among: known))",
          hint: "known are \(known.joined(separator: ", "))")
      }
      guard !text.allSatisfy({ $0 == ":" }) else { continue }
      values.append(
        SettingValue(
          name: variable.dropFirst("SUBLEDGER_".count).lowercased(),
          node: Node(text, .implicit, .doubleQuoted), .environment))
    }
    return values
  }

  /// Reads the file at `path`, which `place` gives.
  static func read(
    _ path: String, givenWith place: String = "--config"
  ) throws(SubledgerError) -> Configuration {
    let file = SettingsFile(
      what: "the configuration", path: path, place: place, missing: .configuration)
    return try read(file.contents(), named: path)
  }

  /// Reads the content of the file at `path`.
  static func read(_ bytes: [UInt8], named path: String) throws(SubledgerError) -> Configuration {
    let file = YAMLFile(name: path, hint: "subledger.example.yaml shows every setting")
    var configuration = Configuration()
    configuration.path = path
    guard let root = try file.root(of: bytes) else { return configuration }
    try configuration.read(leaves(of: SettingValue(name: "", node: root, .file(file))))
    let kept = kept(of: root)
    configuration.source =
      kept.isEmpty
      ? nil : Array(try attempt { try Yams.serialize(node: Node(kept), sortKeys: true) }.utf8)
    return configuration
  }

  /// The settings of a mapping and of the groups in it.
  private static func leaves(of mapping: SettingValue) throws(SubledgerError) -> [SettingValue] {
    var leaves: [SettingValue] = []
    for entry in try mapping.entries() {
      let isLeaf = Setting.all.contains { $0.name == entry.name }
      let group = Setting.all.filter { $0.name.hasPrefix(entry.name + ".") }
      if !group.isEmpty, !isLeaf || entry.node.mapping != nil {
        leaves += try self.leaves(of: entry)
      } else if isLeaf {
        leaves.append(entry)
      } else {
        throw entry.unknown(among: Setting.all.map(\.name))
      }
    }
    return leaves
  }

  private mutating func read(_ values: [SettingValue]) throws(SubledgerError) {
    for setting in Setting.all {
      for value in values where value.name == setting.name {
        try attempt { try setting.read(&self, value) }
      }
    }
  }

  /// The settings that the ledger keeps; by name, so that neither a secret nor a path gets in.
  private static func kept(of node: Node, in group: String = "") -> [(Node, Node)] {
    guard let mapping = node.mapping else { return [] }
    return mapping.compactMap { key, value in
      let name = group + (key.scalar?.string ?? "")
      if Setting.all.contains(where: { $0.name == name && $0.isKept }) { return (key, value) }
      let inner = kept(of: value, in: name + ".")
      return inner.isEmpty ? nil : (key, Node(inner))
    }
  }
}

extension Configuration {
  /// Adds a report that an analyst wrote, also to what the ledger keeps.
  mutating func keep(report name: String, _ text: String) throws(SubledgerError) {
    guard reports.updateValue(text, forKey: name) == nil else {
      throw SubledgerError(
        .configuration, "there are two reports \(name.shown())", hint: "give one another name")
    }
    let before = try attempt { [source] in
      try source.flatMap { try Yams.compose(yaml: String(decoding: $0, as: UTF8.self)) }
    }
    let others = (before?.mapping.map(Array.init) ?? []).filter { $0.key.string != "reports" }
    let texts = reports.map { (Node($0), Node($1, .implicit, .doubleQuoted)) }
    let kept = others.map { ($0.key, $0.value) } + [(Node("reports"), Node(texts))]
    source = Array(try attempt { try Yams.serialize(node: Node(kept), sortKeys: true) }.utf8)
  }

  /// Adds `pro: com.example.pro`, a list of such ids, or `{ids: […], period: P1M}`.
  mutating func add(products: SettingValue) throws(SubledgerError) {
    for product in try products.entries() {
      guard product.node.mapping != nil else {
        self.products[product.key] = try product.list()
        continue
      }
      var ids = [product.key]
      var period: (length: PeriodLength, value: SettingValue)?
      for field in try product.entries() {
        switch field.key {
        case "ids": ids = try field.list()
        case "period": period = (try field.period(), field)
        default: throw field.unknown(among: ["ids", "period"])
        }
      }
      self.products[product.key] = ids
      if let period { for id in ids { try add(period.length, of: period.value, id: id) } }
    }
  }

  /// Adds the period of a product, which `products` and `periods` can both give.
  mutating func add(
    _ period: PeriodLength, of value: SettingValue, id: String? = nil
  ) throws(SubledgerError) {
    let id = id ?? value.key
    if let other = periods[id], other != period {
      throw value.refused("\(id) has two periods, \(other.iso) and \(period.iso)")
    }
    periods[id] = period
  }
}

/// Runs `work` and converts its failure to a `SubledgerError`.
func attempt<Result>(_ work: () throws -> Result) throws(SubledgerError) -> Result {
  do { return try work() } catch { throw SubledgerError(error) }
}
