import Domain

/// One arrival of an event in the archive.
struct Arrival: Sendable, Equatable {
  /// When the endpoint received it, in milliseconds since 1970.
  var received: Int64
  /// The provider's attempt, from 1.
  var attempt: Int
  /// When the provider made the message, in seconds; differs only when it was made again.
  var created: Int64
}

/// What became of one event on its way.
struct Delivery: Sendable {
  var fate: Fate
  /// Empty for a lost event.
  var arrivals: [Arrival]
}

extension Delivery {
  /// The delivery when a second address receives a copy of every call.
  func archivedTwice(_ person: Person) -> Delivery {
    var twice = self
    if fate == .delivered { twice.fate = .duplicated }
    for arrival in arrivals {
      var copy = arrival
      copy.received += 1 + Int64(person.noise % 400)
      twice.arrivals.append(copy)
    }
    return twice
  }
}

/// The provider's post office: draws the fate of each event of a life.
struct PostOffice: Sendable {
  private let plan: WorldPlan

  init(_ plan: WorldPlan) { self.plan = plan }

  /// Seconds since the first attempt at which a provider tries again.
  ///
  /// Source: Qonversion webhook documentation: 1 min, 5 min, 3 h 55 min, 4 h and 16 h apart;
  /// IAPGUARD webhook documentation: 10 min, 60 min, 4 h and three times 12 h apart. iaptic and
  /// Purple publish none: theirs stays within a day.
  static func schedule(of provider: Provider) -> [Int64] {
    switch provider {
    case .qonversion: [0, 60, 360, 14_400, 28_800, 86_400]
    case .flobuk: [0, 600, 4_200, 18_600, 61_800, 105_000, 148_200]
    case .iaptic, .purple: [0, 60, 660, 4_260, 25_860, 79_860]
    }
  }

  /// How the `index`th happening of `life` was delivered.
  ///
  /// It does not depend on other happenings' draws, so that shares can change without changing
  /// anything else.
  func delivery(of index: Int, in life: Life) -> Delivery {
    let schedule = Self.schedule(of: life.person.shop.provider)
    let once = drawn(index, in: life, schedule).through(plan.outages, schedule)
    return life.person.hasTwoAddresses ? once.archivedTwice(life.person) : once
  }

  private func drawn(_ index: Int, in life: Life, _ schedule: [Int64]) -> Delivery {
    let provider = life.person.shop.provider
    var random = Randomness(
      seed: plan.seed, item: UInt64(life.person.number) << 16 | UInt64(index),
      stream: provider == .qonversion ? 2 : 16 + UInt64(provider.rawValue))
    let time = life.happenings[index].time
    let created = time + random.between(20, 120)
    let first = created * 1000 + random.between(80, 2_800)
    let arrival = Arrival(received: first, attempt: 1, created: created)
    switch fate(&random) {
    case .delivered: return Delivery(fate: .delivered, arrivals: [arrival])
    case .lost: return Delivery(fate: .lost, arrivals: [])
    case .duplicated:
      return Delivery(fate: .duplicated, arrivals: repeated(arrival, schedule, &random))
    case .delayed:
      var late = arrival
      late.attempt = Int(random.between(2, Int64(schedule.count)))
      late.received += schedule[late.attempt - 1] * 1000
      return Delivery(fate: .delayed, arrivals: [late])
    case .reordered:
      let next = index + 1 < life.happenings.count ? life.happenings[index + 1].time : .max
      var late = arrival
      // Behind the next event of the same life when that is not too far away.
      late.received =
        next - time < 20 * hour
        ? (next + 121) * 1000 + random.between(3_000, 60_000)
        : first + random.between(600_000, 7_200_000)
      return Delivery(fate: .reordered, arrivals: [late])
    }
  }

  private func fate(_ random: inout Randomness) -> Fate {
    var draw = Int(random.below(1_000_000))
    let shares: [(Fate, Int)] = [
      (.lost, plan.lostShare), (.duplicated, plan.duplicatedShare),
      (.delayed, plan.delayedShare), (.reordered, plan.reorderedShare),
    ]
    for (fate, share) in shares {
      if draw < share { return fate }
      draw -= share
    }
    return .delivered
  }

  /// The endpoint answered too late: the same message again, or one made again.
  private func repeated(
    _ arrival: Arrival, _ schedule: [Int64], _ random: inout Randomness
  ) -> [Arrival] {
    var arrivals = [arrival]
    let copies = random.chance(150_000) ? 2 : 1
    for _ in 0..<copies {
      var again = arrival
      again.attempt = arrivals.count + 1
      again.received += schedule[again.attempt - 1] * 1000 + random.between(0, 900)
      if random.chance(200_000) { again.created += random.between(1, 40) }
      arrivals.append(again)
    }
    return arrivals
  }
}
