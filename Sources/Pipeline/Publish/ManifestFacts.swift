import EventStore
import Reports
import Reconciliation
import Domain

extension PublishPass {
  /// The manifest, without its tables.
  func manifest(_ archives: [ArchiveRecord], _ counts: ReconciliationCounts) -> Manifest {
    var manifest = Manifest(
      version: version, asOf: rules.asOf, timeZone: rules.calendar.identifier)
    manifest.dialect = plan.csvDialect
    manifest.options = plan.effectiveOptions.byName
    manifest.inputs = archives.map(ManifestInput.init)
    manifest.watermarks = rules.watermarks.map { feed, newest in
      ManifestWatermark(
        provider: feed.provider.name, app: ledger.symbols.words[Int(feed.app)], newest: newest,
        creationLag: rules.creationLags[feed] ?? .seconds(0))
    }.sorted { ($0.provider, $0.app) < ($1.provider, $1.app) }
    manifest.counts = [
      "rounded_amounts": archives.reduce(0) { $0 + $1.counts.roundedAmounts },
      "missing_is_proceed": archives.reduce(0) { $0 + $1.counts.missingIsProceed },
      "users_without_snapshot": counts.usersWithoutSnapshot,
      "manual_grants": counts.manualGrants,
      "family_shares": counts.familyShares,
      "sandbox_in_snapshots": counts.sandbox,
      "unmatched_entitlements": counts.unmatchedEntitlements,
      "ends_without_date": counts.endsWithoutDate,
      "refunds_never_told": counts.refundsNeverTold,
      "transactions_before_first_event": counts.beforeFirstEvent,
    ]
    return manifest
  }
}

extension Plan {
  /// Every option and setting that has an effect on the numbers.
  var effectiveOptions: [EffectiveOption: JSONValue] {
    var options: [EffectiveOption: JSONValue] = [
      .asOf: .string(rules.asOf.text),
      .timezone: .string(rules.calendar.identifier),
      .csvDialect: .string(configuration.csvDialect.rawValue),
      .renewalGap: .integer(rules.renewalGap.milliseconds / 1000),
      .retryHorizon: .integer(rules.retryHorizon.milliseconds / 1000),
      .freshnessMax: configuration.freshnessMax.json { .integer($0.milliseconds / 1000) },
      .historyBegins: configuration.historyBegins.json {
        .string($0.instant(in: rules.calendar).text)
      },
      .doubleCharges: .string(rules.doubleCharges.rawValue),
      .authority: .array(rules.authority.map { .string($0.name) }),
      .snapshotsComplete: .bool(configuration.snapshotsAreComplete),
      .snapshotsFromWebhooks: .bool(configuration.snapshotsFromWebhooks),
      .rejectedShare: .string(rejectedShare.text()),
      .materiality: .string(materialityShare.text()),
      .breaks: configuration.severity.value,
      .decisions: .string(decisions.sha256.map { "sha256:" + $0 } ?? "none"),
      .valueBytes: .integer(Int64(valueBytesMax)),
      .products: .object(
        configuration.products.mapValues { .array($0.map(JSONValue.string)) }),
      .periods: .object(configuration.periods.mapValues { .string($0.iso) }),
      .eventNames: .object(configuration.eventNames.mapValues { .string($0.name) }),
      // The providers with configured secrets, without the secrets.
      .authenticated: .array(
        configuration.secrets.keys.map(\.name).sorted().map(JSONValue.string)),
      .pricesSHA256: .string(prices?.sha256 ?? "none"),
    ]
    options[.amountDecimals] =
      configuration.amountDecimals.map { .integer(Int64($0)) } ?? .string("exact")
    options[.deliveryWindow] = .object(
      Dictionary(
        uniqueKeysWithValues: Provider.allCases.map {
          ($0.name, .integer(rules.deliveryWindow($0).milliseconds / 1000))
        }))
    options[.deliveryRetries] = .object(
      Dictionary(
        uniqueKeysWithValues: Provider.allCases.map { provider in
          let schedule = configuration.retrySchedules[provider] ?? provider.interface.retries
          return (provider.name, .array(schedule.delays.dropFirst().map(JSONValue.integer)))
        }))
    return options
  }
}

extension [EffectiveOption: JSONValue] {
  /// The same as they are published and kept.
  var byName: [String: JSONValue] {
    [String: JSONValue](uniqueKeysWithValues: map { ($0.rawValue, $1) })
  }
}

extension SeverityThresholds {
  var value: JSONValue {
    .object([
      "severity_usd": .object([
        "medium": .string(amounts.medium.text()), "high": .string(amounts.high.text()),
        "critical": .string(amounts.critical.text()),
      ]),
      "severity_days": .object(
        Dictionary(uniqueKeysWithValues: days.map { ($0.rawValue, .integer($1)) })),
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

extension ManifestInput {
  init(_ archive: ArchiveRecord) {
    self.init(archive: archive.name, sha256: archive.sha256)
    kind = archive.kind.rawValue
    lines = archive.counts.lines
    accepted = archive.counts.accepted
    duplicates = archive.counts.duplicates
    skipped = archive.counts.skipped
    rejected = archive.counts.rejected
    status = archive.status.rawValue
  }
}

extension ManifestResource {
  init(_ table: ReportTable) {
    self.init(
      path: table.path, rows: table.rows,
      fields: table.columns.map {
        var field = ManifestField(
          name: $0.name, type: $0.type, unit: $0.unit, description: $0.description,
          isKey: $0.isKey)
        field.addsUp = $0.addition == .sum
        return field
      })
    controlTotals = table.controlTotals
    roundingResidual = table.roundingResidual
  }
}
