import Domain

/// What of a lost event the rest of the record can show.
///
/// Names: a snapshot's shape, or another provider's name for its own snapshot; `counter` when a
/// later renewal's number jumps over it; `later_line` when an arrived line contains the content of
/// this one.
struct Evidence {
  let customer: CustomerSimulation
  let outcomes: [DeliveryOutcome]
  let span: TimeSpan

  /// What of the lost event at `index` the rest of the record can show.
  func names(of index: Int) -> [String] {
    let occurrence = customer.occurrences[index]
    guard customer.person.environment == .production else {
      // Sandbox purchases are in no production snapshot.
      return customer.person.shop.provider == .qonversion && hasJumped(occurrence)
        ? ["counter"] : []
    }
    switch customer.person.shop.provider {
    case .qonversion:
      let jump = hasJumped(occurrence) ? ["counter"] : []
      return qonversionShapes(of: occurrence).map(\.rawValue) + jump
    case .flobuk: return occurrence.kind == .other ? [] : flobuk(occurrence, at: index)
    case .iaptic: return occurrence.kind == .other ? [] : iaptic(occurrence, at: index)
    case .purple: return isShownByPurple(occurrence) ? [Provider.purple.name] : []
    }
  }

  private func qonversionShapes(of occurrence: Occurrence) -> [SnapshotShape] {
    let sdks: [SnapshotShape] = [.sdk, .sdkObject, .canonical]
    switch occurrence.kind {
    case .trialStarted, .trialConverted, .started, .renewed, .upgraded:
      let isCurrent = !laterArrived(occurrence) { $0.isSubscriptionCharge }
      let shapes = [.purchases] + sdks
      return isCurrent && isActiveAtEnd(occurrence.part) ? [.v3, .v4] + shapes : shapes
    case .purchased:
      return Product.all[occurrence.product].isConsumable ? [.purchases] : [.purchases] + sdks
    case .refunded: return isWholeRefund(occurrence) ? sdks : []
    case .canceled, .trialCanceled:
      let isImplied = hasEnd(occurrence.part) || isWholeRefund(occurrence)
      return isStateAtEnd(occurrence, .canceled) && !isImplied ? [.v3, .v4] + sdks : []
    case .billingRetry, .trialBillingRetry:
      return isStateAtEnd(occurrence, .billingIssue) ? [.v3, .v4] + sdks : []
    case .expired, .trialExpired: return isLastPart(occurrence.part) ? [.v3, .v4] + sdks : []
    default: return []
    }
  }

  /// Whether a later renewal's number jumps over a lost renewal; it does only where it stood
  /// somewhere before.
  private func hasJumped(_ lost: Occurrence) -> Bool {
    lost.kind == .renewed && laterArrived(lost) { $0.kind == .renewed }
      && arrived(lost) { other in
        let isCounted =
          other.kind == .renewed || other.kind == .trialConverted
          || other.transaction == other.transaction.original
        return other.isSubscriptionCharge && isCounted && other.time < lost.time
      }
  }

  private func laterArrived(_ lost: Occurrence, _ matches: (Occurrence) -> Bool) -> Bool {
    arrived(lost) { $0.time > lost.time && matches($0) }
  }

  /// Whether another event of the same subscription that `matches` arrived.
  private func arrived(_ lost: Occurrence, _ matches: (Occurrence) -> Bool) -> Bool {
    zip(customer.occurrences, outcomes).contains { other, outcome in
      outcome != .lost && other.transaction.base == lost.transaction.base && matches(other)
    }
  }

  /// Purple's snapshot lists every transaction except consumables, and the state at the end.
  private func isShownByPurple(_ occurrence: Occurrence) -> Bool {
    switch occurrence.kind {
    case .trialStarted, .started, .renewed, .recovered, .resubscribed, .upgraded: true
    case .purchased, .purchaseRefunded: !Product.all[occurrence.product].isConsumable
    case .canceled: isStateAtEnd(occurrence, .canceled) && !hasEnd(occurrence.part)
    case .graceEntered: isStateAtEnd(occurrence, .billingIssue)
    // Access that a refund took away, for which Purple has no event, needs no expiry.
    case .expired, .endedInvoluntarily:
      isLastPart(occurrence.part) && !isWholeRefund(occurrence)
    default: false
    }
  }

  /// A collection holds the state of its purchases, whatever it was sent for.
  ///
  /// Refunds are events only, and a missing purchase is not sent again. That it ended follows from
  /// its end.
  private func iaptic(_ occurrence: Occurrence, at index: Int) -> [String] {
    switch occurrence.kind {
    case .refunded, .purchaseRefunded, .revoked, .expired, .trialExpired: return []
    default: break
    }
    func holds(_ time: Int64) -> Bool {
      customer.collection(at: time, span).contains { $0.transaction == occurrence.transaction }
    }
    let later = customer.occurrences.indices.dropFirst(index + 1).contains {
      outcomes[$0] != .lost && !customer.isIapticTest(customer.occurrences[$0])
        && holds(customer.occurrences[$0].time)
    }
    return (holds(span.end) ? [Provider.iaptic.name] : []) + (later ? ["later_line"] : [])
  }

  /// The snapshot has no transaction ids and no dates.
  ///
  /// It shows a user without any other event. For Play, whose order ids chain renewals without a
  /// user, it shows that a known subscription continues or is in another state.
  private func flobuk(_ occurrence: Occurrence, at index: Int) -> [String] {
    let occurrences = customer.occurrences
    let later = occurrences.indices.dropFirst(index + 1).contains {
      outcomes[$0] != .lost && occurrences[$0].transaction == occurrence.transaction
    }
    let named = occurrences.indices.filter { customer.namesFlobukUser(occurrences[$0]) }
    let arrived = named.filter { outcomes[$0] != .lost }.map { occurrences[$0].transaction.base }
    let isShown =
      arrived.isEmpty
      ? index == named.first && isInFlobukSnapshot
      : arrived.contains(occurrence.transaction.base) && isShownByChain(occurrence)
    return (isShown ? [Provider.flobuk.name] : []) + (later ? ["later_line"] : [])
  }

  private func isShownByChain(_ occurrence: Occurrence) -> Bool {
    guard customer.person.shop.store == .playStore else { return false }
    switch occurrence.kind {
    case .trialStarted, .trialConverted, .started, .renewed:
      return isLastPart(occurrence.part) && isActiveAtEnd(occurrence.part)
    case .canceled, .trialCanceled:
      return isStateAtEnd(occurrence, .canceled) && isActiveAtEnd(occurrence.part)
    case .billingRetry, .trialBillingRetry: return isStateAtEnd(occurrence, .billingIssue)
    default: return false
    }
  }

  /// Consumables are in no answer, and subscriptions that ended before the archives begin are not
  /// evidence.
  private var isInFlobukSnapshot: Bool {
    customer.occurrences.contains { !$0.isOfPurchase }
      || customer.purchases.contains { !Product.all[$0.product].isConsumable }
  }

  private func isActiveAtEnd(_ part: OccurrencePart) -> Bool {
    part.subscription == customer.subscriptions.count - 1
      && (customer.subscriptions.last?.state(at: span.end).isActive ?? false)
  }

  private func isLastPart(_ part: OccurrencePart) -> Bool {
    guard let newest = customer.subscriptions.last,
      part.subscription == customer.subscriptions.count - 1
    else { return false }
    guard case .period(_, let period) = part else { return newest.periods.isEmpty }
    return period == newest.periods.count - 1
  }

  /// Whether the newest period is still in the state that a message reported.
  private func isStateAtEnd(_ occurrence: Occurrence, _ state: RenewState) -> Bool {
    isLastPart(occurrence.part) && customer.subscriptions.last?.state(at: span.end).state == state
  }

  private func isWholeRefund(_ occurrence: Occurrence) -> Bool {
    customer.period(of: occurrence)?.charge.wholeRefundAt != nil
  }

  /// What ends by itself has an end of its own, which implies that auto-renew was off.
  private func hasEnd(_ part: OccurrencePart) -> Bool {
    customer.occurrences.contains {
      $0.part == part && [.expired, .trialExpired, .endedInvoluntarily].contains($0.kind)
    }
  }
}
