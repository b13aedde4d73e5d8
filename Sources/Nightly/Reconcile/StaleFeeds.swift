import Ledger
import Vocabulary

/// A `STALE_INPUT` for each feed whose newest input is older than `freshness_max` at as-of.
func staleFeeds(_ ledger: Ledger, _ rules: Rules) -> [Break] {
  rules.watermarks.filter { rules.isStale($0.key) }.map { feed, watermark in
    let app = ledger.symbols.words[Int(feed.app)]
    var fingerprint = Fingerprint()
    fingerprint.combine(BreakCode.staleInput.rawValue)
    fingerprint.combine(feed.provider.name)
    fingerprint.combine(app)
    var found = Break(
      id: UInt64(bitPattern: fingerprint.value).hexadecimal, code: .staleInput,
      provider: feed.provider)
    found.app = app
    found.severity = .high
    found.expectedAt = watermark + rules.freshnessMax
    found.evidence = "the newest input is of \(watermark.text), as-of is \(rules.asOf.text)"
    found.action = "check that the endpoint still receives webhooks and that they are archived"
    return found
  }
}
