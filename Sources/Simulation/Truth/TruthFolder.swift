import Domain

/// The truth about a scenario, collected customer by customer and written at its end.
///
/// It is computed from the true history by separate code, so that it can disagree with the program.
/// Customers that two providers report are counted once, in the rows of the first.
struct TruthFolder {
  private let span: TimeSpan
  private let folder: String
  private var completeness: [Shop: Completeness] = [:]
  /// One JSON line per event.
  private let events: GzipFile
  private var revenue = RevenueRecount()
  private var subscriptions = SubscriptionRecount()
  private var renewals = RenewalRecount()

  /// Starts a truth for shops that received deliveries in `hours`, in milliseconds.
  init(
    _ folder: String, span: TimeSpan, hours: [NamedFeed: [Int64: ClosedRange<Int64>]]
  ) throws(SubledgerError) {
    self.folder = folder
    self.span = span
    for shop in Shop.all {
      completeness[shop] = Completeness(
        of: shop, span: span,
        hours: (hours[shop.feed] ?? [:]).values.sorted { $0.lowerBound < $1.lowerBound })
    }
    events = try GzipFile(path: "\(folder)/events.jsonl.gz")
  }

  mutating func add(
    _ customer: CustomerSimulation, _ deliveries: [Delivery]
  ) throws(SubledgerError) {
    let outcomes = deliveries.map(\.outcome)
    for (index, delivery) in deliveries.enumerated() {
      let event = SentEvent(customer: customer, index: index)
      let evidence = Evidence(event: event, outcomes: outcomes)
      try events.add(evidence.truth(delivery))
    }
    guard customer.person.environment == .production, customer.person.previousProvider == nil,
      let completeness = completeness[customer.person.shop]
    else { return }
    revenue.add(customer)
    for subscription in customer.expectedHistory.subscriptions {
      subscriptions.add(subscription.seenPeriods(completeness), completeness)
      renewals.add(subscription, completeness)
    }
  }

  mutating func finish() throws(SubledgerError) {
    try events.finish()
    let files =
      [revenue.file(completeness)] + subscriptions.files(completeness)
      + renewals.files(completeness)
    for file in files { try write(file.text, to: "\(folder)/\(file.name)") }
    try write(Instant(seconds: span.end).text + "\n", to: "\(folder)/as_of.txt")
  }
}
