import Domain

/// Draws a customer's actions and records them.
///
/// The same number in the same scenario always gives the same customer. Customers are therefore not
/// stored but simulated again when needed.
struct CustomerSimulator {
  var random: Randomness
  var customer: CustomerSimulation
  /// A new subscription after a return to the shop.
  var returning: Charging?

  var span: TimeSpan { customer.span }
  /// Number of subscriptions and purchases so far.
  var bases: Int { customer.subscriptions.count + customer.purchases.count }
  /// Index of the newest subscription.
  var current: Int { customer.subscriptions.count - 1 }

  struct Charging {
    var kind: ChargeKind
    var time: Int64
    /// The start of the period that it pays for.
    var start: Int64
    var product: Product
  }

  /// Simulates the customer of this number.
  init(of number: Int, in scenario: Scenario) {
    random = Randomness(seed: scenario.seed, item: UInt64(number), stream: 1)
    let noise = random.next()
    let store = random.below(100)
    let person = Person(
      number: number, noise: noise,
      shop: Shop(
        app: random.below(100) < 65 ? .pro : .reader,
        storeIndex: store < 60 ? 0 : store < 90 ? 1 : 2),
      market: Market.all[Int(max(0, random.below(12) - 4))],
      environment: random.chance(scenario.sandboxShare) ? .sandbox : .production,
      acceptsPriceRise: random.chance(800_000))
    customer = CustomerSimulation(person: person, span: scenario.span)
    run()
  }

  private mutating func run() {
    // One in six customers started before the archives begin.
    let born =
      random.chance(160_000)
      ? span.start - random.between(1, 300 * day)
      : random.between(span.start, span.end - 2 * hour)
    if random.chance(940_000) {
      subscribe(at: born)
      while let again = returning, again.time < span.end {
        returning = nil
        guard bases < 4 else { continue }
        begin()
        simulatePaid(from: again)
      }
    }
    if customer.subscriptions.isEmpty || random.chance(60_000) {
      buyOnce(at: max(born, span.start) + random.between(60, 20 * day))
    }
    customer.occurrences.sort { $0.time < $1.time }
    transferAccount()
  }

  private mutating func subscribe(at time: Int64) {
    let draw = random.below(100)
    let product: Product =
      draw < 25 ? .weekly : draw < 70 ? .monthly : draw < 80 ? .plus : .yearly
    let isTrial = product.trialDays > 0 && random.chance(550_000)
    begin()
    let first = Charging(kind: .first, time: time, start: time, product: product)
    simulatePaid(from: isTrial ? tryOut(product, from: time) : first)
  }

  private mutating func begin() {
    let original = TransactionNumber(base: bases, index: 0)
    customer.subscriptions.append(Subscription(original: original))
  }

  private mutating func simulatePaid(from first: Charging?) {
    var next = first
    while let charging = next, charging.time < span.end { next = pay(charging) }
  }

  /// The transaction of the newest subscription's next charge or trial.
  var nextTransaction: TransactionNumber {
    let subscription = customer.subscriptions[current]
    return TransactionNumber(
      base: subscription.original.base,
      index: subscription.periods.count + (subscription.trial == nil ? 0 : 1))
  }

  mutating func record(_ occurrence: Occurrence) {
    guard occurrence.time >= span.start, occurrence.time < span.end else { return }
    customer.occurrences.append(occurrence)
  }

  /// When something that happened at `time` is noticed: before `limit`, and before the end of the
  /// scenario if it happened before that.
  mutating func noticed(_ time: Int64, within delay: Int64, before limit: Int64) -> Int64 {
    let late = time + random.between(1, delay)
    let bound = time < span.end ? min(limit, span.end) : limit
    return late < bound ? late : max(time, bound - 1)
  }

  /// Moves some accounts to another user: only those with one subscription, so that events and
  /// snapshots agree about its owner.
  private mutating func transferAccount() {
    guard random.chance(10_000), customer.subscriptions.count == 1, customer.purchases.isEmpty,
      customer.occurrences.count > 2
    else { return }
    let drawn = Int(random.between(1, Int64(customer.occurrences.count - 1)))
    // Occurrences in the same second belong to the same account.
    customer.transferredFrom = (drawn..<customer.occurrences.count).first { index in
      customer.occurrences[index].time > customer.occurrences[index - 1].time
    }
  }
}
