import Formats
import EventStore
import Reconciliation
import Reports
import Domain

/// The lineages that a run must fold; the others are in the cells of the basis.
struct FoldScope: Sendable {
  let dirty: (all: [Int64], touched: Set<Int64>)
  let basis: FactCheckpoint

  /// Nil when the run must fold everything.
  init?(
    of ledger: Ledger, rules: ReconciliationSettings, by pipeline: RunPipeline
  ) throws {
    guard let basis = try ledger.foldBasis(), basis.rules == pipeline.foldFingerprint(rules),
      basis.asOf <= rules.fold.asOf, Self.isForward(from: basis, to: rules)
    else { return nil }
    dirty = try ledger.dirtyLineages(asOf: rules.fold.asOf)
    self.basis = basis
    guard dirty.all.count <= Self.dirtyMax(of: basis) else { return nil }
  }

  /// Returns the maximum number of lineages to fold apart from the other groups of `basis`.
  ///
  /// Each is folded twice, with its current and its previous events, and read by its key: from a
  /// quarter on, folding everything costs no more. Lineages of one user are in memory together,
  /// which bounds their number in a large ledger.
  static func dirtyMax(of basis: FactCheckpoint?) -> Int {
    max(256, min(Int(basis?.groups ?? 0) / 4, 200_000))
  }

  /// Whether every feed is the same and reaches at least as far as before: when a feed stops, final
  /// ends are open again, and when its begin moves, other events count as missing.
  private static func isForward(
    from basis: FactCheckpoint, to rules: ReconciliationSettings
  ) -> Bool {
    guard basis.feeds.count == rules.feeds.count else { return false }
    let previous = rules.fold.at(basis)
    return basis.feeds.allSatisfy { mark in
      rules.feeds.contains {
        $0.feed == mark.feed && $0.begin == mark.begin && $0.newest >= mark.newest
      } && previous.endsAreFinal(until: mark.feed) <= rules.fold.endsAreFinal(until: mark.feed)
    }
  }
}

extension FoldSettings {
  /// Returns the rules at the time when the cells were computed.
  func at(_ basis: FactCheckpoint) -> FoldSettings {
    var rules = self
    rules.asOf = basis.asOf
    rules.read(basis.feeds)
    return rules
  }

  /// Sets the newest input of each feed; bodies without an app belong to the only named app.
  mutating func read(_ feeds: [Watermark]) {
    watermarks = Dictionary(uniqueKeysWithValues: feeds.map { ($0.feed, $0) })
    onlyApps = [:]
    for (provider, feeds) in Dictionary(grouping: feeds.map(\.feed), by: \.provider)
    where provider.capabilities.omitsApps {
      let named = feeds.filter { $0.app != 0 }
      guard named.count == 1 else { continue }
      onlyApps[provider] = named[0].app
      let unnamed = Feed(provider: provider, app: 0)
      if let other = watermarks.removeValue(forKey: unnamed), let own = watermarks[named[0]] {
        watermarks[named[0]]?.newest = max(other.newest, own.newest)
      }
    }
  }
}

extension RunPipeline {
  /// Returns the SHA-256 of everything that determines the meaning of events, except as-of and the
  /// events themselves.
  func foldFingerprint(_ rules: ReconciliationSettings) -> String {
    let excluded: [EffectiveOption] = [
      .asOf, .locale, .xlsx, .rejectedShare, .materiality, .decisions, .reports,
    ]
    var options = plan.effectiveOptions
    for option in excluded { options[option.rawValue] = nil }
    options[EffectiveOption.version.rawValue] = .string(version)
    options["undated_collections"] = .bool(rules.hasUndatedCollections)
    options["feed_clocks"] = .array(
      rules.feeds.map { mark in
        .array([
          .string(mark.feed.provider.name), .string(mark.app),
          .integer(rules.fold.creationLags[mark.feed]?.milliseconds ?? 0),
          .integer(mark.trustedFrom?.milliseconds ?? 0),
        ])
      })
    // Those of the price book depend on as-of.
    let words = rules.strings.words
    options["product_periods"] = .object(
      Dictionary(
        rules.fold.periods.map { (words[Int($0)], .string("\($1)")) },
        uniquingKeysWith: { first, _ in first }))
    let reconciled = rules.snapshotsTakenAt.keys.map(\.name).sorted()
    options["reconciled"] = .array(reconciled.map(JSONValue.string))
    return sha256(of: JSONValue.object(options).document())
  }
}
