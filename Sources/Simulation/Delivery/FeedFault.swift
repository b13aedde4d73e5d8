import Domain

/// An error or rare case in a provider's feed, in addition to delivery faults.
///
/// Raw values are used in options and in `truth/events.jsonl.gz`. The true history, and so the
/// expected reports, stay unchanged.
public enum FeedFault: String, CaseIterable, Sendable {
  /// The same store transaction is charged again, up to six hours later.
  case doubleCharge = "double_charge"
  /// The same store transaction is charged again in the same second, as another kind.
  case doubleKind = "double_kind"
  /// A refund is sent again, up to five days later.
  case overRefund = "over_refund"
  /// A renewal costs 0.00.
  case freeCharge = "free_charge"
  /// A renewal costs a hundred times its price.
  case hundredfoldCharge = "hundredfold_charge"
  /// A charge has a `proceeds_rate` of 1.
  case impossibleRate = "impossible_rate"
  /// The event has an unknown name.
  case renamed
  /// Only the sixth attempt succeeds, up to three hours after its time.
  case lastAttempt = "last_attempt"
  /// A charge has a `proceeds_rate` of 0.85 instead of 85.
  case fractionalRate = "fractional_rate"
  /// A one-time purchase of two to four units has the price of one.
  case severalUnits = "several_units"
  /// An event of a subscription at Play names the base plan.
  case basePlan = "base_plan"
  /// In iaptic's feed, a first period is an introductory offer whose price is in no price book.
  case introOffer = "intro_offer"
}

extension CustomerSimulation {
  /// The break that must be raised once an occurrence with this fault arrives; nil for none.
  func code(of occurrence: Occurrence) -> BreakCode? {
    let isStores = person.shop.store != .stripe
    switch occurrence.fault {
    case .doubleCharge, .doubleKind: return isStores ? .doubleCharge : nil
    case .overRefund:
      let charge = purchase(of: occurrence) ?? period(of: occurrence)?.charge
      let isMore = charge.map { abs(occurrence.revenue?.local ?? 0) * 2 > $0.revenue.local }
      return isStores && isMore ?? false ? .overRefund : nil
    case .freeCharge, .hundredfoldCharge: return .priceOutlier
    case .impossibleRate, .fractionalRate: return .rateMismatch
    default: return nil
    }
  }
}

extension Scenario {
  /// The customer as its provider sends it, with the faults of the feed.
  ///
  /// Extra events follow the others, so that no other event's draws change.
  func withFaults(_ customer: CustomerSimulation) -> CustomerSimulation {
    guard !faultShares.isEmpty, customer.transferredFrom == nil else { return customer }
    var faulty = customer
    for (index, occurrence) in customer.occurrences.enumerated() {
      var random = Randomness(
        seed: seed, item: UInt64(customer.person.number) << 16 | UInt64(index), stream: 3)
      for fault in FeedFault.allCases where random.chance(faultShares[fault] ?? 0) {
        guard fault != .basePlan || customer.person.shop.store == .playStore,
          let sent = occurrence.with(fault, &random), sent.time < customer.span.end
        else { continue }
        if [.doubleCharge, .doubleKind, .overRefund].contains(fault) {
          faulty.occurrences.append(sent)
        } else {
          faulty.occurrences[index] = sent
        }
        break
      }
    }
    return faulty
  }

  func withIntroOffer(_ customer: CustomerSimulation) -> CustomerSimulation {
    var random = Randomness(seed: seed, item: UInt64(customer.person.number) << 16, stream: 3)
    let start = customer.occurrences.firstIndex {
      $0.kind == .started && $0.transaction.index == 0
    }
    guard let start, case .period(let subscription, 0) = customer.occurrences[start].part,
      random.chance(faultShares[.introOffer] ?? 0)
    else { return customer }
    var faulty = customer
    faulty.occurrences[start].fault = .introOffer
    faulty.subscriptions[subscription].periods[0].charge.isOffer = true
    return faulty
  }
}

extension Occurrence {
  /// The event with the fault; nil when the fault does not apply to it.
  func with(_ fault: FeedFault, _ random: inout Randomness) -> Occurrence? {
    var sent = self
    sent.fault = fault
    let isCharge = isSubscriptionCharge && kind != .trialStarted && kind != .upgraded
    switch fault {
    case .doubleCharge where isCharge || kind == .purchased:
      sent.time += random.between(30, 6 * hour)
    case .doubleKind where isCharge: sent.kind = kind == .renewed ? .started : .renewed
    case .overRefund where kind == .refunded || kind == .purchaseRefunded:
      sent.time += random.between(hour, 5 * day)
    case .freeCharge where kind == .renewed: sent.multiplyMoney(by: 0)
    case .hundredfoldCharge where kind == .renewed: sent.multiplyMoney(by: 100)
    case .impossibleRate where isCharge: sent.charge.rate = 1
    case .severalUnits where kind == .purchased: sent.units = random.between(2, 4)
    case .fractionalRate where isCharge: break
    case .basePlan where !isOfPurchase: break
    case .renamed, .lastAttempt: break
    default: return nil
    }
    return sent
  }

  private mutating func multiplyMoney(by factor: Int64) {
    charge.gross = charge.gross.scaled(factor, 1)
    revenue = revenue?.scaled(factor, 1)
  }
}
