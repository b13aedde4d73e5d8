import Domain
import Formats
import Foundation
import Page
import Providers
import Reconciliation
import Yams

/// Every setting of the job, as `GivenSettings` reads them.
struct Configuration: Sendable {
  /// Settings without an effect on the numbers: paths, and how the job runs.
  struct Job: Sendable {
    var archives: [String] = []
    var snapshots: [String] = []
    var readers: [ArchiveCommands] = []
    var ledger = "subledger.sqlite"
    var out = "reports"
    var prices: GivenPath?
    var decisions: GivenPath?
    var reportsDir: GivenPath?
    var summary: GivenPath?
    var metrics: GivenPath?
    var notifyURL: String?
    var jobs = ProcessInfo.processInfo.activeProcessorCount
    var failOn = Plan.FailOn.none
    /// Seconds to wait for the lock.
    var lockWait = 0
    /// Seconds since its last change during which an archive counts as still being written.
    var minAge = 0
    var adopts = false
    var isDryRun = false
    var engine = Plan.Engine.embedded
    var master: String?
    /// Where Spark stores events; nil means in the ledger's folder.
    var lake: String?
    var log = LogOptions()
    var fetch = FetchSettings()
  }

  var job = Job()
  /// Business time of the reports; nil for now.
  var asOf: GivenTime?
  var capturedAt: GivenTime?
  var timezone = CivilCalendar.utc
  var csvDialect = CSVDialect.rfc4180
  var locale = PageLocale.en
  /// Decimals of printed amounts; nil prints them exactly.
  var amountDecimals: Int?
  var hasWorkbook = false
  /// Dashboard product id → store product ids.
  var products: [String: [String]] = [:]
  /// Store product id → period.
  var periods: [String: PeriodLength] = [:]
  /// How bodies are read, without secrets.
  var reading = NormaliserSettings()
  var renewalGap: Interval?
  var retryHorizon: Interval?
  /// Maximum age of the newest input, if a feed's own history does not determine it.
  var freshnessMax: FeedValues<Interval> = [:]
  /// When feeds began, if their first delivery does not determine it.
  var historyBegins: FeedValues<GivenTime> = [:]
  var deliveryWindows: [Provider: Interval] = [:]
  var retrySchedules: [Provider: RetrySchedule] = [:]
  var doubleCharges = ExcessMoneyPolicy.hold
  var authority: [Provider] = []
  var snapshotsAreComplete = false
  var snapshotsFromWebhooks = true
  var valueBytesMax = defaultValueBytesMax
  /// Share of rejected lines above which the set is qualified.
  var rejectedShare = Amount(micros: 10_000)
  /// Share of a month's net revenue above which open breaks qualify the set.
  var materialityShare = Amount(micros: 5_000)
  var secrets: [Provider: [SecretSource]] = [:]
  var severity = SeverityThresholds()
  var reports: [String: String] = [:]
  /// Path of the file that was read; nil without a file.
  var path: String?
  /// The part of the file that the ledger stores; nil without a file.
  var source: [UInt8]?
}

extension Configuration {
  /// Adds an analyst's report, also to the part that the ledger stores.
  mutating func keep(report name: String, _ text: String) throws {
    guard reports.updateValue(text, forKey: name) == nil else {
      throw SubledgerError(
        .configuration, "there are two reports \(name.shown())", hint: "give one another name")
    }
    let before = try source.flatMap { try Yams.compose(yaml: String(decoding: $0, as: UTF8.self)) }
    let others = (before?.mapping.map(Array.init) ?? []).filter { $0.key.string != "reports" }
    let texts = reports.map { (Node($0), Node($1, .implicit, .doubleQuoted)) }
    let kept = others.map { ($0.key, $0.value) } + [(Node("reports"), Node(texts))]
    source = Array(try Yams.serialize(node: Node(kept), sortKeys: true).utf8)
  }

  /// Adds `pro: com.example.pro`, a list of such ids, or `{ids: […], period: P1M}`.
  mutating func add(products: SettingValue) throws {
    try products.forEach { product in
      guard product.node.mapping != nil else {
        self.products[product.key] = try product.list()
        return
      }
      var ids = [product.key]
      var period: (length: PeriodLength, value: SettingValue)?
      try product.forEach { field in
        switch field.key {
        case "ids": ids = try field.list()
        case "period": period = (try SettingForm.period.read(field), field)
        default: throw field.unknown(among: ["ids", "period"])
        }
      }
      self.products[product.key] = ids
      if let period { for id in ids { try add(period.length, of: period.value, id: id) } }
    }
  }

  /// Adds the period of a product, which both `products` and `periods` can contain.
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
