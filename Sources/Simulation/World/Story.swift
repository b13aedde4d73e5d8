import Domain

/// Lives one life: draws what a person does and keeps the books of it.
///
/// The same number in the same plan always lives the same life, so that nothing needs to be kept:
/// whoever wants to look at a life again lives it again.
struct Story {
  let span: Span
  var random: Randomness
  var life: Life
  /// When the subscription now lived was first paid.
  var firstPaid: Int64 = 0
  /// The subscription now lived.
  var current = 0
  /// Transactions of it so far.
  var transactions = 0
  /// Renewals of it so far.
  var renewals: Int32 = 0
  /// The numbers of subscriptions and purchases used so far.
  private var bases = 0
  /// A return to the shop under a new subscription.
  var comeback: Charging?

  /// What will be charged next.
  struct Charging {
    var kind: ChargeKind
    /// When it is charged and told.
    var time: Int64
    /// When the period it pays for begins.
    var start: Int64
    var product: Int
  }

  private init(number: Int, plan: WorldPlan, span: Span) {
    self.span = span
    random = Randomness(seed: plan.seed, item: UInt64(number), stream: 1)
    let noise = random.next()
    let store = random.below(100)
    let person = Person(
      number: number, noise: noise,
      shop: Shop(
        app: random.below(100) < 65 ? 0 : 1, storeIndex: store < 60 ? 0 : store < 90 ? 1 : 2),
      marketIndex: Int(max(0, random.below(12) - 4)),
      environment: random.chance(plan.sandboxShare) ? .sandbox : .production,
      acceptsPriceRise: random.chance(800_000))
    life = Life(person: person)
  }

  /// The life of person `number`.
  static func life(of number: Int, in plan: WorldPlan, span: Span) -> Life {
    var story = Story(number: number, plan: plan, span: span)
    story.liveThrough()
    return story.life
  }

  private mutating func liveThrough() {
    // One in six was there before the archives begin.
    let length = span.end - span.start
    let before = random.chance(160_000)
    let born =
      before
      ? span.start - random.between(1, 300 * day)
      : span.start + random.between(0, length - 2 * hour)
    if random.chance(940_000) {
      subscribe(at: born)
      while let again = comeback, again.time < span.end {
        comeback = nil
        if bases < 4 { live(from: again) }
      }
    }
    if life.subscriptions.isEmpty || random.chance(60_000) {
      buyOnce(at: max(born, span.start) + random.between(60, 20 * day))
    }
    sortHappenings()
    transferAccount()
  }

  mutating func nextBase() -> Int {
    defer { bases += 1 }
    return bases
  }

  private mutating func subscribe(at time: Int64) {
    let draw = random.below(100)
    let product =
      draw < 25
      ? Product.weekly : draw < 70 ? Product.monthly : draw < 80 ? Product.plus : Product.yearly
    let first = Charging(kind: .first, time: time, start: time, product: product)
    if Product.all[product].trialDays > 0, random.chance(550_000) {
      begin()
      if let conversion = tryOut(product, from: time) { livePaid(from: conversion) }
    } else {
      live(from: first)
    }
  }

  private mutating func live(from charging: Charging) {
    begin()
    livePaid(from: charging)
  }

  private mutating func begin() {
    let base = TransactionNumber(base: nextBase(), index: 0)
    life.subscriptions.append(Subscription(original: base))
    current = life.subscriptions.count - 1
    transactions = 0
    renewals = 0
  }

  private mutating func livePaid(from first: Charging) {
    firstPaid = first.start
    var next: Charging? = first
    while let charging = next, charging.time < span.end { next = pay(charging) }
  }

  mutating func nextTransaction() -> TransactionNumber {
    defer { transactions += 1 }
    return TransactionNumber(
      base: life.subscriptions[current].original.base, index: transactions)
  }

  /// Writes a happening down when the archives cover it.
  mutating func tell(_ happening: Happening) {
    guard happening.time >= span.start, happening.time < span.end else { return }
    life.happenings.append(happening)
  }

  /// A moment at which something that happened at `time` is noticed, before `limit` and before
  /// the end of the world when it happened before that.
  mutating func noticed(_ time: Int64, within delay: Int64, before limit: Int64) -> Int64 {
    let late = time + random.between(1, delay)
    let bound = time < span.end ? min(limit, span.end) : limit
    return late < bound ? late : max(time, bound - 1)
  }

  /// The moment at which a charge that falls due at `start` is told: seconds later, on the same
  /// day and, when due before it, before the end of the world.
  mutating func told(_ start: Int64) -> Int64 {
    let time = start + random.between(0, 90)
    let sameDay = civilDay(of: time) == civilDay(of: start)
    return sameDay && (time < span.end || start >= span.end) ? time : start
  }

  private mutating func sortHappenings() {
    var order = Array(life.happenings.indices)
    order.sort { left, right in
      let (first, second) = (life.happenings[left].time, life.happenings[right].time)
      return first == second ? left < right : first < second
    }
    life.happenings = order.map { life.happenings[$0] }
  }

  /// Some accounts move to another user; only lives that are one subscription, so that events
  /// and snapshots agree about whose it is.
  private mutating func transferAccount() {
    guard random.chance(10_000), life.subscriptions.count == 1, life.purchases.isEmpty,
      life.happenings.count > 2
    else { return }
    let drawn = Int(random.between(1, Int64(life.happenings.count - 1)))
    // What is told of one second is told of one account.
    life.transferredFrom = (drawn..<life.happenings.count).first { index in
      life.happenings[index].time > life.happenings[index - 1].time
    }
  }
}
