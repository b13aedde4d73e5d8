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
      id: hexadecimal(fingerprint.value), code: .staleInput, provider: feed.provider)
    found.app = app
    found.severity = .high
    found.expectedAt = watermark + rules.freshnessMax
    found.evidence = "the newest input is of \(watermark.text), as-of is \(rules.asOf.text)"
    found.action = "check that the endpoint still receives webhooks and that they are archived"
    return found
  }
}

private func hexadecimal(_ value: Int64) -> String {
  let digits = String(UInt64(bitPattern: value), radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}
