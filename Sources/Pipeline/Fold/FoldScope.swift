import Formats
import EventStore
import Reconciliation
import Reports
import Domain

/// The lineages that a run must fold; the rest is in the cells of the basis.
struct FoldScope: Sendable {
  let dirty: (all: [Int64], touched: Set<Int64>)
  let basis: FactCheckpoint

  /// Nil where the run must fold everything.
  ///
  /// - Parameters:
  ///   - rules: this run's.
  ///   - fingerprint: of all that the meaning of events depends on.
  init?(
    of ledger: Ledger, rules: ReconciliationSettings, fingerprint: String
  ) throws {
    guard let basis = try ledger.foldBasis(), basis.rules == fingerprint,
      basis.asOf <= rules.fold.asOf, Self.isForward(from: basis, to: rules, ledger)
    else { return nil }
    dirty = try ledger.dirtyLineages(asOf: rules.fold.asOf)
    self.basis = basis
    guard dirty.all.count <= Self.dirtyMax(of: basis) else { return nil }
  }

  /// How many lineages may be folded apart from the rest of the groups of `basis`.
  ///
  /// Each is folded twice, as it is and as it was, and read by its key: from a quarter on, folding
  /// everything costs no more. Lineages of one user are held in memory together, which bounds their
  /// number in a large ledger.
  static func dirtyMax(of basis: FactCheckpoint?) -> Int {
    max(256, min(Int(basis?.groups ?? 0) / 4, 200_000))
  }

  /// Whether every feed is the same and reaches as far as it did: when a feed stops, final ends are
  /// open again, and another begin changes what counts as missed.
  private static func isForward(
    from basis: FactCheckpoint, to rules: ReconciliationSettings, _ ledger: Ledger
  ) -> Bool {
    guard basis.feeds.count == rules.feeds.count else { return false }
    let former = rules.fold.at(basis)
    return basis.feeds.allSatisfy { mark in
      let app = ledger.symbols.words[Int(mark.app)]
      let feed = mark.feed
      return rules.feeds.contains {
        $0.provider == mark.provider && $0.app == app && $0.firstEventAt == mark.begin
          && $0.watermark >= mark.newest
      } && former.endsAreFinal(until: feed) <= rules.fold.endsAreFinal(until: feed)
    }
  }
}

extension FoldSettings {
  /// The same rules when the cells were made.
  func at(_ basis: FactCheckpoint) -> FoldSettings {
    var rules = self
    rules.asOf = basis.asOf
    rules.read(basis.feeds)
    return rules
  }

  /// Takes in the newest input of each feed; bodies that lack their app are of the only one.
  mutating func read(_ feeds: [Watermark]) {
    watermarks = Dictionary(uniqueKeysWithValues: feeds.map { ($0.feed, $0.newest) })
    silencesMax = Dictionary(uniqueKeysWithValues: feeds.map { ($0.feed, $0.silenceMax) })
    clockBegins = Dictionary(
      uniqueKeysWithValues: feeds.compactMap { mark in mark.clockBegin.map { (mark.feed, $0) } })
    onlyApps = [:]
    for (provider, feeds) in Dictionary(grouping: feeds, by: \.provider)
    where provider.capabilities.omitsApps {
      let named = feeds.map(\.feed).filter { $0.app != 0 }
      guard named.count == 1 else { continue }
      onlyApps[provider] = named[0].app
      let unnamed = Feed(provider: provider, app: 0)
      if let newest = watermarks.removeValue(forKey: unnamed) {
        watermarks[named[0], default: newest] = max(newest, watermarks[named[0]] ?? newest)
      }
    }
  }
}

extension Plan {
  /// SHA-256 of everything that the meaning of events depends on besides them and as-of.
  func foldFingerprint(version: String, rules: ReconciliationSettings) -> String {
    let excluded: [EffectiveOption] = [
      .asOf, .locale, .xlsx, .rejectedShare, .materiality, .decisions, .reports,
    ]
    var options = effectiveOptions
    for option in excluded { options[option.rawValue] = nil }
    options[EffectiveOption.version.rawValue] = .string(version)
    options["undated_collections"] = .bool(rules.hasUndatedCollections)
    options["creation_lags"] = .array(
      rules.feeds.map { feed in
        .array([
          .string(feed.provider.name), .string(feed.app), .integer(feed.creationLag.milliseconds),
        ])
      })
    let reconciled = rules.snapshotsTakenAt.keys.map(\.name).sorted()
    options["reconciled"] = .array(reconciled.map(JSONValue.string))
    return sha256(of: JSONValue.object(options).document())
  }
}
