import Domain
import Subscriptions

extension Reconciler {
  /// Finds subscriptions that are active by events and not by the snapshot.
  func compareAccess() {
    guard user.snapshot != nil else { return }
    for match in comparableMatches where !isReplacedUnseen(match) && isAhead(match) {
      if capabilities.sendsPeriodEnds, earlyEnd(of: match) != nil { continue }
      raiseAhead(match.lineage, says: describe(match.entitlement))
    }
    findAheadOfSnapshot()
  }

  private func raiseAhead(_ lineage: LineageInput, says words: String) {
    let end = lineage.state.effectiveEnd.map { " until \($0.text)" } ?? ""
    raise(
      BreakDraft(
        code: .aheadOfSnapshot, subject: subject(lineage), key: .active,
        expectedAt: lineage.state.lastEventAt, accessEnd: lineage.state.effectiveEnd,
        evidence: "events show an active subscription\(end); \(words)"))
  }

  private func findAheadOfSnapshot() {
    let unmatched = unmatchedSubscriptions
    lazy var matched = Set(matches.map(\.lineage.name))
    for lineage in lineages
    where isActive(lineage.state, at: knownAt) && !matched.contains(lineage.name)
      && isComparable(lineage) && !isTransferred(lineage) && !isReplaced(lineage)
      && !isRefundMissed(lineage) && !isReportedLater(lineage, .revocation)
      // An unmatched entitlement may belong to the lineage.
      && !unmatched.contains(where: {
        lineage.state.store.mayBe($0.store) || mayNameProduct($0, of: lineage)
      })
    {
      if mayHaveVanished(lineage) {
        omit(.endsWithoutDate)
      } else if mayBeHidden(lineage) {
        omit(.unmatchedEntitlements)
      } else {
        raiseAhead(lineage, says: "the snapshot of \(knownAt.text) has no such entitlement")
      }
    }
  }

  /// Whether an empty collection without a date may have ended the lineage.
  ///
  /// Bodies of iaptic's first years, which have no transaction ids, report the end of a refunded
  /// purchase by leaving it out; an empty body has no date for it.
  private func mayHaveVanished(_ lineage: LineageInput) -> Bool {
    rules.hasUndatedCollections && capabilities.body == .collection
      && lineage.latest.transactions.isEmpty
  }

  /// Whether other active access may hide that of the lineage: access without an end that was
  /// bought, or access of its product by a grant, or by a subscription in another store.
  ///
  /// Shapes without transactions have a line per entitlement, whatever subscriptions grant it.
  func mayBeHidden(_ lineage: LineageInput) -> Bool {
    let store = lineage.state.store
    return (user.snapshot?.entitlements ?? []).contains { shown in
      let isElsewhere = shown.store == .unknown || !store.mayBe(shown.store)
      guard shown.transactions.isEmpty, isOn(shown) else { return false }
      let isGranted = shown.grant == .manual
      if !isGranted, !shown.isSubscription, shown.expiresAt == nil { return true }
      return (isGranted || shown.isSubscription && isElsewhere)
        && mayNameProduct(shown, of: lineage)
    }
  }

  private func mayNameProduct(_ entitlement: Entitlement, of lineage: LineageInput) -> Bool {
    storeProducts(entitlement.product)?.contains(lineage.product) ?? true
  }

  /// Entitlements that could belong to any lineage: without transactions and not off.
  private var unmatchedSubscriptions: [Entitlement] {
    zip(view.entitlements, origins.lineages).filter { entitlement, origin in
      origin == nil && entitlement.isSubscription && entitlement.transactions.isEmpty
        && !isOver(entitlement)
    }.map(\.0)
  }

  /// Finds a user without a snapshot, or without any event although one should have arrived.
  func findAbsentSide() {
    guard user.snapshot != nil else { return countUserWithoutSnapshot() }
    guard user.lineages.isEmpty, user.newerLineages.isEmpty, missing.isEmpty,
      missedRefunds.isEmpty
    else { return }
    for entitlement in view.entitlements { raiseUnreportedEnd(of: entitlement) }
    let watched = view.entitlements.filter { entitlement in
      entitlement.transactions.isEmpty
        && isWatched(entitlement.expiresAt ?? view.capturedAt, subject(of: entitlement))
    }
    let newest = watched.max {
      (begin(of: $0)?.milliseconds ?? .min, $0.id) < (begin(of: $1)?.milliseconds ?? .min, $1.id)
    }
    guard let newest else { return }
    let started = watched.compactMap(begin(of:)).min()
    let about = subject(of: newest)
    // FLOBUK dates no start, and renewals that a store triggers name no user there.
    let mayBeOlder = !capabilities.linksRenewalsOutsidePlay && newest.startedAt == nil
    let isOlder = started.map { !isWatched($0, about) } ?? false
    let begun = isOlder ? "began" : mayBeOlder ? "may have begun" : nil
    let note = begun.map { "; it \($0) before the first event of the app arrived" } ?? ""
    raise(
      BreakDraft(
        code: .eventsAbsent, subject: about, key: .user, expectedAt: started,
        accessEnd: newest.expiresAt,
        severity: begun == nil ? nil : .info,
        evidence: "entitlement \(newest.id): \(describe(newest)); no event of the user ever arrived"
          + note))
  }

  /// When the access began, else one period before the shown end; nil when unknown.
  private func begin(of entitlement: Entitlement) -> Instant? {
    if let started = entitlement.startedAt { return started }
    guard let end = entitlement.expiresAt else { return nil }
    let begin = knownLength(of: entitlement)?.start(before: end)
    return begin.flatMap { $0 <= knownAt + gap ? $0 : nil }
  }

  /// Raises the end of a purchase before the feed began, which the feed must still report.
  private func raiseUnreportedEnd(of entitlement: Entitlement) {
    var about = subject(of: entitlement)
    guard let newest = entitlement.newestTransaction, newest.revokedAt == nil,
      entitlement.isSubscription, sendsEvents, let end = entitlement.expiresAt,
      isWatched(end, about), isOver(entitlement), entitlement.renewState != .billingIssue,
      end + (entitlement.renewState == .willRenew ? gap : .seconds(0)) < knownAt
    else { return }
    about.original = ListedTransaction(newest, of: entitlement).original
    raise(
      BreakDraft(
        code: .missedExpiration, subject: about, key: .period(nil), expectedAt: end,
        worth: nothing,
        evidence:
          "transaction \(newest.id): \(describe(entitlement)); no event of the user ever arrived"))
  }

  private func countUserWithoutSnapshot() {
    guard rules.snapshotsTakenAt[user.provider] != nil, !user.user.isEmpty else { return }
    let active = lineages.filter { wasActive($0, at: snapshotsTaken(of: $0)) && !isTransferred($0) }
    guard let first = active.first else { return }
    let taken = snapshotsTaken(of: first)
    guard rules.snapshotsComplete else { return omit(.usersWithoutSnapshot) }
    let end = first.state.effectiveEnd.map { " until \($0.text)" } ?? ""
    raise(
      BreakDraft(
        code: .snapshotAbsent, subject: subject(first), key: .snapshot,
        expectedAt: first.state.lastEventAt,
        evidence: "events show an active subscription\(end), \(active.count) subscriptions in all; "
          + "no snapshot of the app up to \(taken.text) names the user, though the set is declared "
          + "complete"))
  }

  /// When the newest snapshot of the app was taken; of any app, if none is of this one.
  private func snapshotsTaken(of lineage: LineageInput) -> Instant {
    let taken = rules.snapshotsTakenAt[user.provider] ?? [:]
    let own = [lineage.app, ""].compactMap { taken[$0] }.max()
    return own ?? taken.values.max() ?? rules.fold.asOf
  }

  /// Whether it was active at `instant`, and not only bought again since.
  private func wasActive(_ lineage: LineageInput, at instant: Instant) -> Bool {
    let state = lineage.state
    guard isActive(state, at: instant) else { return false }
    let begun =
      state.trials.map { (start: $0.start, end: $0.end) }
      + state.subscriptionCharges.map { (start: $0.time, end: $0.periodEnd) }
    let before = begun.filter { $0.start < instant }
    guard before.count < begun.count, let last = before.max(by: { $0.start < $1.start }),
      let end = last.end
    else { return true }
    // A failed payment can have been made later, in a grace period.
    return end + gap > instant
      || state.paymentsFailed.contains { last.start < $0 && $0 < instant }
  }

  /// Raises unreported purchases and cancels of entitlements without a lineage; counts the others.
  func evaluateUnmatchedEntitlements() {
    for (entitlement, origin) in zip(view.entitlements, origins.lineages)
    where origin == nil && (!isOfWebhook || showsMore(entitlement)) {
      raiseUnreportedCancel(entitlement)
      // Other checks evaluate listed transactions, and a user without events as a whole.
      if !entitlement.transactions.isEmpty { continue }
      if user.lineages.isEmpty, user.newerLineages.isEmpty { continue }
      if allLineages.isEmpty {
        omit(.sandbox)
      } else if !raiseUnreportedStart(entitlement) {
        omit(.unmatchedEntitlements)
      }
    }
  }

  /// Raises the purchase of an entitlement that cannot be one of the user's lineages.
  ///
  /// Returns false when that is uncertain, without a mapped product, or before the first event.
  private func raiseUnreportedStart(_ entitlement: Entitlement) -> Bool {
    guard let products = storeProducts(entitlement.product), let started = entitlement.startedAt,
      started < knownAt, !canBeKnown(entitlement, of: products)
    else { return false }
    // The event of a charge can be later than its purchase, and than the snapshot.
    let isBooked = allLineages.contains { lineage in
      lineage.latest.subscriptionCharges.contains {
        products.contains(lineage.text($0.product)) && $0.periodStart.isWithin(gap, of: started)
      }
    }
    // A refund has already proved it by its id.
    if isBooked || isMissed(at: started) { return true }
    let about = subject(of: entitlement)
    guard isWatched(started, about) else { return false }
    let shown = "entitlement \(entitlement.id) of \(started.text): \(describe(entitlement))"
    if let begun = lineageBegunUnseen(by: entitlement, at: started, products) {
      raiseCharge(
        .missedStart, of: begun, at: started, isFree: entitlement.isTrial == true,
        opensLineage: true, isProvenByEvents: false, "\(shown); its start never arrived")
      return true
    }
    let code: BreakCode = entitlement.isSubscription ? .missedStart : .missedPurchase
    raise(
      BreakDraft(
        code: code, subject: about, key: .product(entitlement.product), expectedAt: started,
        accessEnd: entitlement.expiresAt,
        worth: entitlement.isTrial == true ? nothing : estimate(of: about, at: started),
        evidence: "\(shown); no event of such a product arrived for the user"))
    return true
  }

  /// The only subscription whose events are all newer than the snapshot and which has no start: the
  /// entitlement belongs to it.
  private func lineageBegunUnseen(
    by entitlement: Entitlement, at started: Instant, _ products: [String]
  ) -> LineageInput? {
    guard entitlement.isSubscription else { return nil }
    let begun = allLineages.dropFirst(lineages.count).filter { lineage in
      let state = lineage.latest
      guard state.store.mayBe(entitlement.store), state.trials.isEmpty,
        let first = state.subscriptionCharges.first, first.time > started,
        products.contains(lineage.text(first.product))
      else { return false }
      return first.kind != .first
    }
    return begun.count == 1 ? begun.first : nil
  }

  /// Whether an unclaimed lineage may be the purchase, or a lineage of either environment had, or
  /// had a trial of, such a product.
  private func canBeKnown(_ entitlement: Entitlement, of products: [String]) -> Bool {
    if entitlement.isSubscription, !lineagesLeft(for: entitlement, origins.claimed).isEmpty {
      return true
    }
    return (lineages + sandbox).contains { lineage in
      let latest = lineage.latest
      let held = latest.charges.map(\.product) + latest.trials.map(\.product)
      return (held + [lineage.state.product]).contains { products.contains(lineage.text($0)) }
    }
  }

  /// Raises the cancel of a subscription without events, if it happened after the feed began.
  ///
  /// A subscription that began before the app's first event can still be canceled after it. If a
  /// period ended later than the cancel, its missing expiry implies the cancel.
  private func raiseUnreportedCancel(_ entitlement: Entitlement) {
    guard entitlement.renewState == .canceled, let canceledAt = entitlement.autoRenewOffAt,
      canceledAt < knownAt, let newest = entitlement.newestTransaction, newest.revokedAt == nil,
      isOn(entitlement) || (entitlement.expiresAt.map { $0 <= canceledAt } ?? false)
    else { return }
    let listed = ListedTransaction(newest, of: entitlement)
    let about = subject(listed, nil)
    guard isWatched(canceledAt, about), !isCanceledLater(lineage(of: listed)) else { return }
    raise(
      BreakDraft(
        code: .missedCancel, subject: about, key: .state, expectedAt: canceledAt,
        worth: nothing,
        evidence:
          "\(describe(entitlement)); auto-renew is off since \(canceledAt.text), and no event "
          + "of the subscription ever arrived"))
  }

  /// Whether the first events of a subscription, all newer than the snapshot, report its cancel:
  /// their time is when it was noticed.
  private func isCanceledLater(_ lineage: LineageInput?) -> Bool {
    guard let state = lineage?.latest, let canceledAt = state.lastSwitchedOff else { return false }
    return !state.subscriptionCharges.contains { $0.time < canceledAt }
  }
}
