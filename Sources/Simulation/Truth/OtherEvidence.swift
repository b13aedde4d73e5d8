import Domain

// What shows a loss when another provider than Qonversion told of it. Words: the provider's name
// for its own snapshot, `later_line` when a line that did come holds what this one told.

extension Evidence {
  /// What of the lost event at `index` the rest of the record can show.
  func witnesses(toldByOther index: Int) -> [String] {
    let happening = life.happenings[index]
    guard life.person.environment == .production, happening.kind != .other else { return [] }
    switch life.person.shop.provider {
    case .qonversion: return witnesses(of: index)
    case .flobuk: return flobukWitnesses(of: happening, at: index)
    case .iaptic: return iapticWitnesses(of: happening, at: index)
    case .purple: return isShownByPurple(happening) ? [Provider.purple.name] : []
    }
  }

  /// Purple's snapshot lists every transaction but those of consumables, and the state at the end.
  private func isShownByPurple(_ happening: Happening) -> Bool {
    switch happening.kind {
    case .trialStarted, .started, .renewed, .recovered, .resubscribed, .upgraded: true
    case .purchased, .purchaseRefunded: !Product.all[happening.product].isConsumable
    case .canceled: isStateAtEnd(happening, .canceled) && !hasEnd(happening.part)
    case .graceEntered: isStateAtEnd(happening, .billingIssue)
    // Access that a refund took away, for which Purple has no word, needs no expiry.
    case .expired, .endedInvoluntarily:
      isLastPart(happening.part) && !isWholeRefund(happening)
    default: false
    }
  }

  /// A collection tells the state of its purchases, whatever it was sent for.
  ///
  /// Refunds are events alone, and what has vanished is not told again. That it ended follows from
  /// its end.
  private func iapticWitnesses(of happening: Happening, at index: Int) -> [String] {
    switch happening.kind {
    case .refunded, .purchaseRefunded, .revoked, .expired, .trialExpired: return []
    default: break
    }
    func holds(_ time: Int64) -> Bool {
      life.collection(at: time, span).contains { $0.transaction == happening.transaction }
    }
    let later = life.happenings.indices.dropFirst(index + 1).contains {
      fates[$0] != .lost && !life.isIapticTest(life.happenings[$0])
        && holds(life.happenings[$0].time)
    }
    return (holds(span.end) ? [Provider.iaptic.name] : []) + (later ? ["later_line"] : [])
  }

  /// The snapshot has no transaction ids and no dates.
  ///
  /// It shows the user of whom nothing else came, and of Play, whose order ids chain the renewals
  /// that come without user, that a known subscription runs on or is in another state.
  private func flobukWitnesses(of happening: Happening, at index: Int) -> [String] {
    let later = life.happenings.indices.dropFirst(index + 1).contains {
      fates[$0] != .lost && life.happenings[$0].transaction == happening.transaction
    }
    let named = life.happenings.indices.filter { life.namesFlobukUser(life.happenings[$0]) }
    let isShown =
      named.contains { fates[$0] != .lost }
      ? isShownByChain(happening, named) : index == named.first && isInFlobukSnapshot
    return (isShown ? [Provider.flobuk.name] : []) + (later ? ["later_line"] : [])
  }

  private func isShownByChain(_ happening: Happening, _ named: [Int]) -> Bool {
    let isChained = named.contains {
      fates[$0] != .lost && life.happenings[$0].transaction.base == happening.transaction.base
    }
    guard life.person.shop.store == .playStore, isChained else { return false }
    switch happening.kind {
    case .trialStarted, .trialConverted, .started, .renewed:
      return isLastPart(happening.part) && isActiveAtEnd(happening.part)
    case .canceled, .trialCanceled:
      return isStateAtEnd(happening, .canceled) && isActiveAtEnd(happening.part)
    case .billingRetry, .trialBillingRetry: return isStateAtEnd(happening, .billingIssue)
    default: return false
    }
  }

  /// Consumables are in no answer, and what ended before the archives begin says nothing of them.
  private var isInFlobukSnapshot: Bool {
    life.happenings.contains { !$0.isOfPurchase }
      || life.purchases.contains { !Product.all[$0.product].isConsumable }
  }

  private func isStateAtEnd(_ happening: Happening, _ state: RenewState) -> Bool {
    guard isLastPart(happening.part), let number = subscription(of: happening.part)
    else { return false }
    return life.subscriptions[number].state(at: span.end).state == state
  }

  /// What ends by itself has an end of its own, which implies that auto-renew was off.
  private func hasEnd(_ part: LifePart) -> Bool {
    life.happenings.contains {
      $0.part == part && ($0.kind == .expired || $0.kind == .endedInvoluntarily)
    }
  }
}
