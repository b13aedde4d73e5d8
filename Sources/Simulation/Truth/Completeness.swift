import Domain

/// Until when the rows of a shop are final, by the contract's rules.
struct Completeness: Sendable {
  static let renewalGap = 24 * hour
  static let retryHorizon = 60 * day

  let shop: Shop
  let span: TimeSpan
  /// Newest receive time of the shop's app up to as-of, in seconds; nil without deliveries.
  let watermark: Int64?
  /// Ends up to this time are certain once gap and window have passed: as-of, or earlier when the
  /// input is stale.
  private let settled: Int64

  /// - Parameter hours: the first and last receive time of each hour, in milliseconds, in order.
  init(of shop: Shop, span: TimeSpan, hours: [ClosedRange<Int64>]) {
    (self.shop, self.span) = (shop, span)
    let end = span.end * 1000
    let known = hours.filter { $0.lowerBound <= end }
    let newest = known.last.map { $0.upperBound <= end ? $0.upperBound : $0.lowerBound }
    watermark = newest.map { $0 / 1000 }
    let recent = (newest ?? 0) - 60 * day * 1000
    let gaps = zip(known, known.dropFirst()).filter { $1.lowerBound >= recent }
      .map { $1.lowerBound - $0.upperBound }.sorted(by: >)
    let outages = gaps.count < 10 ? 0 : (gaps.count + 99) / 100
    let longest = gaps.dropFirst(outages).first ?? 0
    // How long the app may send nothing, in seconds.
    let gapMax = max(48 * hour, min(3 * longest, max(14 * day * 1000, longest)) / 1000)
    settled = watermark.flatMap { span.end - $0 > gapMax ? $0 : nil } ?? span.end
  }

  /// Whether the lack of a charge proves that an end is final.
  func isOver(_ end: Int64) -> Bool {
    end + Self.renewalGap + shop.sender.deliveryWindow <= settled
  }

  /// Whether a month can no longer change, `slack` seconds and the delivery window after its end.
  func isComplete(_ month: Month, slack: Int64) -> Bool {
    let end = start(of: month.next)
    guard let watermark else { return false }
    return end + slack + shop.sender.deliveryWindow <= span.end && end <= watermark
  }

  /// The months of the scenario, the last one possibly cut short by as-of.
  var months: [Month] {
    (civilMonth(of: span.start).number...civilMonth(of: span.end - 1).number).map(Month.init)
  }
}
