import EventStore
import Formats
import Reports
import Reconciliation
import Domain
import Page
import Providers

extension PublishPass {
  func manifest(_ archives: [ArchiveRecord], _ counts: [ReconciliationCount: Int64]) -> Manifest {
    var manifest = Manifest(
      version: pipeline.version, asOf: rules.asOf, timeZone: rules.calendar.identifier)
    manifest.dialect = plan.csvDialect
    manifest.options = plan.effectiveOptions
    manifest.inputs = archives
    manifest.watermarks = rules.watermarks.values.sorted(by: Watermark.isNamedBefore).map { mark in
      .object([
        "provider": .string(mark.feed.provider.name), "app_id": .string(mark.app),
        "newest": .string(mark.newest.text),
        "creation_lag_s": .integer((rules.creationLags[mark.feed]?.milliseconds ?? 0) / 1000),
      ])
    }
    manifest.counts = [
      "rounded_amounts": archives.reduce(0) { $0 + $1.counts.roundedAmounts },
      "missing_is_proceed": archives.reduce(0) { $0 + $1.counts.missingIsProceed },
    ]
    for count in ReconciliationCount.allCases {
      manifest.counts[count.rawValue] = counts[count] ?? 0
    }
    return manifest
  }
}

extension Plan {
  /// Every option and setting that affects the numbers, by the name of its `EffectiveOption`.
  var effectiveOptions: [String: JSONValue] {
    var options: [EffectiveOption: JSONValue] = [
      .asOf: .string(rules.asOf.text),
      .timezone: .string(rules.calendar.identifier),
      .csvDialect: .string(configuration.csvDialect.rawValue),
      .locale: .string(configuration.locale.rawValue),
      .xlsx: .bool(configuration.hasWorkbook),
      .renewalGap: .integer(rules.renewalGap.milliseconds / 1000),
      .retryHorizon: .integer(rules.retryHorizon.milliseconds / 1000),
      .freshnessMax: .object(
        configuration.freshnessMax.mapValues { .integer($0.milliseconds / 1000) }),
      .historyBegins: .object(
        configuration.historyBegins.mapValues {
          .string($0.instant(in: rules.calendar).text)
        }),
      .doubleCharges: .string(rules.doubleCharges.rawValue),
      .authority: .array(rules.authority.map { .string($0.name) }),
      .snapshotsComplete: .bool(configuration.snapshotsAreComplete),
      .snapshotsFromWebhooks: .bool(configuration.snapshotsFromWebhooks),
      .rejectedShare: .string(configuration.rejectedShare.text()),
      .materiality: .string(configuration.materialityShare.text()),
      .breaks: configuration.severity.value,
      .decisions: .string(decisions.sha256.map { "sha256:" + $0 } ?? "none"),
      .reports: .object(
        configuration.reports.mapValues { .string("sha256:" + sha256(of: Array($0.utf8))) }),
      .valueBytes: .integer(Int64(configuration.valueBytesMax)),
      .products: .object(
        configuration.products.mapValues { .array($0.map(JSONValue.string)) }),
      .periods: .object(configuration.periods.mapValues { .string($0.iso) }),
      .eventNames: .object(configuration.reading.eventNames.mapValues { .string($0.name) }),
      // Providers with configured secrets, without the secrets.
      .authenticated: .array(
        configuration.secrets.keys.map(\.name).sorted().map(JSONValue.string)),
      .pricesSHA256: .string(prices.map { sha256(of: $0.source) } ?? "none"),
    ]
    options[.amountDecimals] =
      configuration.amountDecimals.map { .integer(Int64($0)) } ?? .string("exact")
    var (windows, retries): ([String: JSONValue], [String: JSONValue]) = ([:], [:])
    for provider in Provider.allCases {
      windows[provider.name] = .integer(rules.deliveryWindow(provider).milliseconds / 1000)
      let schedule = configuration.retrySchedules[provider] ?? provider.interface.retries
      retries[provider.name] = .array(schedule.delays.dropFirst().map(JSONValue.integer))
    }
    (options[.deliveryWindow], options[.deliveryRetries]) = (.object(windows), .object(retries))
    return Dictionary(uniqueKeysWithValues: options.map { ($0.rawValue, $1) })
  }
}

extension Watermark {
  /// The order of feeds in the manifest and in metrics.
  static func isNamedBefore(_ one: Watermark, _ other: Watermark) -> Bool {
    (one.feed.provider.name, one.app) < (other.feed.provider.name, other.app)
  }
}

extension SeverityThresholds {
  var value: JSONValue {
    .object([
      "severity_usd": .object(
        Dictionary(uniqueKeysWithValues: amounts.map { ($0.rawValue, .string($1.text())) })),
      "severity_days": .object(
        Dictionary(uniqueKeysWithValues: days.map { ($0.rawValue, .integer(Int64($1))) })),
    ])
  }
}

extension PeriodLength {
  var iso: String {
    switch self {
    case .days(let count): "P\(count)D"
    case .months(let count): "P\(count)M"
    }
  }
}
