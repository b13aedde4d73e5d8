import Domain

/// What of a lost event the rest of the record can show.
///
/// Words: a snapshot's shape, or `counter` when a later renewal's number jumps over it.
struct Evidence {
  let life: Life
  let fates: [Fate]
  let span: Span

  func witnesses(of index: Int) -> [String] {
    let happening = life.happenings[index]
    switch happening.kind {
    case .trialStarted, .trialConverted, .started, .renewed, .upgraded:
      return witnesses(ofCharge: happening)
    case .purchased:
      let shows: [SnapshotShape] =
        Product.all[happening.product].isConsumable
        ? [.purchases] : [.purchases, .sdk, .sdkObject, .canonical]
      return visible(shows)
    case .refunded:
      return isWholeRefund(happening) ? visible([.sdk, .sdkObject, .canonical]) : []
    case .canceled, .billingRetry, .trialCanceled, .trialBillingRetry:
      guard isLatestState(happening), !isImplied(happening) else { return [] }
      return visible([.v3, .v4, .sdk, .sdkObject, .canonical])
    case .expired, .trialExpired:
      let isLast = isLastPart(happening.part)
      return isLast ? visible([.v3, .v4, .sdk, .sdkObject, .canonical]) : []
    default: return []
    }
  }

  /// Sandbox purchases are in no production snapshot.
  private func visible(_ shapes: [SnapshotShape]) -> [String] {
    life.person.environment == .sandbox ? [] : shapes.map(\.rawValue)
  }

  private func witnesses(ofCharge happening: Happening) -> [String] {
    var shapes: [SnapshotShape] = [.purchases, .sdk, .sdkObject, .canonical]
    if nothingLaterArrived(than: happening), isActiveAtEnd(happening.part) {
      shapes = [.v3, .v4] + shapes
    }
    let jumped =
      happening.kind == .renewed && laterRenewalArrived(than: happening)
      && earlierChargeArrived(than: happening)
    return visible(shapes) + (jumped ? ["counter"] : [])
  }

  private func isCharge(_ happening: Happening) -> Bool {
    switch happening.kind {
    case .trialStarted, .trialConverted, .started, .renewed, .upgraded: true
    default: false
    }
  }

  private func nothingLaterArrived(than lost: Happening) -> Bool {
    !life.happenings.indices.contains { index in
      let other = life.happenings[index]
      return fates[index] != .lost && isCharge(other) && other.time > lost.time
        && other.transaction.base == lost.transaction.base
    }
  }

  private func laterRenewalArrived(than lost: Happening) -> Bool {
    life.happenings.indices.contains { index in
      let other = life.happenings[index]
      return fates[index] != .lost && other.kind == .renewed && other.time > lost.time
        && other.transaction.base == lost.transaction.base
    }
  }

  /// A counter jumps only where it stood somewhere before.
  private func earlierChargeArrived(than lost: Happening) -> Bool {
    life.happenings.indices.contains { index in
      let other = life.happenings[index]
      let isCounted =
        other.kind == .renewed || other.kind == .trialConverted
        || other.transaction == other.transaction.original
      return fates[index] != .lost && isCharge(other) && isCounted && other.time < lost.time
        && other.transaction.base == lost.transaction.base
    }
  }

  /// What ends by itself has an expiry of its own, which implies that auto-renew was off.
  private func isImplied(_ happening: Happening) -> Bool {
    switch happening.kind {
    case .canceled, .trialCanceled:
      life.happenings.contains {
        $0.part == happening.part && ($0.kind == .expired || $0.kind == .trialExpired)
      } || isWholeRefund(happening)
    default: false
    }
  }

  func subscription(of part: LifePart) -> Int? {
    switch part {
    case .trial(let subscription), .period(let subscription, _): subscription
    case .purchase: nil
    }
  }

  func isActiveAtEnd(_ part: LifePart) -> Bool {
    guard let number = subscription(of: part), number == life.subscriptions.count - 1
    else { return false }
    return life.subscriptions[number].state(at: span.end).isActive
  }

  func isLastPart(_ part: LifePart) -> Bool {
    guard let number = subscription(of: part), number == life.subscriptions.count - 1
    else { return false }
    switch part {
    case .trial: return life.subscriptions[number].periods.isEmpty
    case .period(_, let period): return period == life.subscriptions[number].periods.count - 1
    case .purchase: return false
    }
  }

  /// Whether the state that a message told of still holds.
  private func isLatestState(_ happening: Happening) -> Bool {
    guard isLastPart(happening.part), let number = subscription(of: happening.part)
    else { return false }
    let state = life.subscriptions[number].state(at: span.end).state
    switch happening.kind {
    case .canceled, .trialCanceled: return state == .canceled
    default: return state == .billingIssue
    }
  }

  func isWholeRefund(_ happening: Happening) -> Bool {
    guard case .period(let subscription, let period) = happening.part else { return false }
    return life.subscriptions[subscription].periods[period].charge.refund?.isWhole ?? false
  }
}
