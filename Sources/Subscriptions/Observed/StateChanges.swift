import Domain

/// A purchase after its charge: the events that its state reports prove besides the charge, and its
/// end.
struct StateChanges {
  private(set) var events: [Event] = []
  /// The end of the period with grace; nil while it is open.
  private(set) var end: Instant?
  private(set) var isCollecting = false
  /// When the store stopped collecting a failed payment.
  private(set) var gaveUpAt: Instant?
  private(set) var revokedAt: Instant?
  /// When a later collection lacked the purchase; nil if none did.
  var vanishedAt: Instant?
  /// When the purchase was last seen without access; nil if it never was.
  let seenGoneAt: Instant?
  let opening: Event
  let isTrial: Bool

  private let successors: Successors
  private let rules: FoldSettings
  /// Reported events of the purchase from its charge on, and its lineage's without transaction.
  private let reported: [Event]
  private var isRenewing = true
  private var isOwned = true
  /// The end that the states prove; the latest states decide.
  private var ending: Event?

  /// - Parameters:
  ///   - successors: the purchases after it.
  ///   - reported: the reported events of the purchase's lineage.
  init(
    of purchase: Purchase, opening: Event, before successors: Successors, rules: FoldSettings,
    reported: some Sequence<Event>
  ) {
    self.opening = opening
    self.successors = successors
    self.rules = rules
    isTrial = opening.kind == .trialStarted
    end = opening.periodEnd
    seenGoneAt = purchase.stateReports.filter { $0.observation?.isOwned == false }.map(\.seenAt)
      .max()
    self.reported = reported.filter { event in
      event.time >= opening.time && (successors.ofItsID.map { event.time < $0 } ?? true)
        && (event.transaction == opening.transaction || event.transaction == 0)
    }
    // A notice after the next charge may be late: the states before it prove the failed payment.
    isCollecting = self.reported.contains { event in
      event.isBillingProblem && (successors.first.map { event.time < $0 } ?? true)
    }
    for stateReport in purchase.stateReports {
      readEnd(stateReport)
      readCollecting(stateReport)
      readRenewing(stateReport)
      readOwned(stateReport)
    }
    readEnding()
    readReported()
  }

  var isEndKnown: Bool { !isOwned || reports(\.isEnd) }

  /// Whether, as far as known, nothing prevented a renewal at the end: no cancel, pause, failed
  /// payment, end of access or later collection without the purchase.
  var renewsAtEnd: Bool {
    let reportedSwitch = reported.last(where: \.switchesAutoRenew)
    return isRenewing && reportedSwitch?.isCancel != true && !isCollecting && !isEndKnown
      && !reports { $0.kind == .paused } && vanishedAt == nil
  }

  /// Reads a later end, which is an extension or, in billing retry, grace.
  private mutating func readEnd(_ stateReport: Event) {
    guard let seen = stateReport.periodEnd, end.map({ seen > $0 }) ?? true else { return }
    end = seen
    let isGrace = stateReport.observation?.isInBillingRetry == true
    guard stateReport.kind != .graceEntered, isGrace || stateReport.kind != .extended
    else { return }
    var shown = event(isGrace ? .graceEntered : .extended, stateReport, at: stateReport.time)
    if isGrace { shown.graceEnd = seen }
    events.append(shown)
  }

  private mutating func readRenewing(_ stateReport: Event) {
    guard let state = stateReport.observation, let renews = state.isAutoRenewing,
      renews != isRenewing
    else { return }
    isRenewing = renews
    let isSwitch = renews ? reports { $0.kind == .uncanceled } : reports(\.isCancel)
    guard !isSwitch else { return }
    let time = min(state.autoRenewChangedAt ?? stateReport.time, stateReport.time)
    // A cancel in billing retry after the period's end means that the store gave up.
    if !renews, isCollecting, let end, time >= end { gaveUpAt = gaveUpAt ?? time }
    guard !takeBackSwitch(at: time) else { return }
    let kind: EventKind = renews ? .uncanceled : isTrial ? .trialCanceled : .canceled
    var shown = event(kind, stateReport, at: time)
    if !renews { shown.reason = stateReport.reason }
    events.append(shown)
  }

  /// Removes an opposite change at the same moment: only the state after both is known.
  private mutating func takeBackSwitch(at time: Instant) -> Bool {
    let last = events.lastIndex(where: \.switchesAutoRenew)
    guard let last, events[last].time == max(time, opening.time) else { return false }
    events.remove(at: last)
    return true
  }

  private mutating func readCollecting(_ stateReport: Event) {
    guard stateReport.observation?.isInBillingRetry == true, !isCollecting else { return }
    isCollecting = true
    var shown = event(
      isTrial ? .trialBillingRetry : .billingRetry, stateReport, at: stateReport.time)
    // Another provider may know the end of the period.
    if stateReport.observation?.isOwned == true { shown.graceEnd = stateReport.periodEnd }
    events.append(shown)
  }

  private mutating func readOwned(_ stateReport: Event) {
    guard let state = stateReport.observation, let owned = state.isOwned, owned != isOwned else {
      return
    }
    guard !owned else {
      // Access that is back before the period's end was paused, or the earlier state was wrong.
      let isBack = !state.isReplaced && end.map { stateReport.time < $0 } ?? true
      if isBack { (isOwned, ending) = (true, nil) }
      return
    }
    guard state.isInBillingRetry != true else { return }
    isOwned = false
    let seen = max(stateReport.time, opening.time)
    let ended = min(stateReport.periodEnd ?? seen, seen)
    guard !reports(\.isEnd) else { return }
    let isReplaced = state.isReplaced || isFollowed(endedAt: ended)
    if isCollecting, !state.isReplaced {
      ending = event(.endedInvoluntarily, stateReport, at: max(seen, end ?? seen))
      ending?.reason = .involuntary
    } else if let end, ended + rules.renewalGap < end, !isReplaced, !isTrial {
      ending = event(.revoked, stateReport, at: ended)
    } else {
      let time = isReplaced ? min(end ?? ended, ended) : end ?? seen
      ending = event(isTrial ? .trialExpired : .expired, stateReport, at: time)
      ending?.reason = isReplaced ? nil : stateReport.reason
    }
  }

  /// Whether another Play order replaced the purchase that ended at `time`.
  ///
  /// Play ends the old order at a change of product or new purchase, which FLOBUK does not report.
  private func isFollowed(endedAt time: Instant) -> Bool {
    guard opening.provider.capabilities.body == .purchase, opening.store == .playStore,
      let next = successors.first
    else { return false }
    return next >= time && next <= time + rules.renewalGap
  }

  private mutating func readEnding() {
    guard let ending else { return }
    events.append(ending)
    if ending.kind == .revoked { revokedAt = ending.time }
    if ending.kind == .endedInvoluntarily { gaveUpAt = ending.time }
  }

  /// Reads the end from reported events, for later steps.
  private mutating func readReported() {
    let paid = rules.paid(for: opening)
    for event in reported {
      if event.kind == .revoked || (event.kind.isRefund && event.refundsWhole(paid)) {
        revokedAt = revokedAt ?? event.time
      }
      if event.isEnd, isCollecting { gaveUpAt = gaveUpAt ?? event.time }
      if let grace = event.graceEnd { end = end.map { max($0, grace) } }
    }
  }

  private func reports(_ isSuch: (Event) -> Bool) -> Bool { reported.contains(where: isSuch) }

  private func event(_ kind: EventKind, _ stateReport: Event, at time: Instant) -> Event {
    var event = stateReport
    event.kind = kind
    event.time = max(time, opening.time)
    event.product = opening.product
    event.periodStart = opening.periodStart
    event.revenue = nil
    event.price = nil
    event.reason = nil
    return event
  }
}

/// The purchases after a purchase, as far as a single state report each shows the charge time.
struct Successors {
  /// When the next subscription purchase was made.
  var first: Instant?
  /// When the next purchase with the same transaction id was made.
  var ofItsID: Instant?
}

extension [Purchase] {
  var successors: [Successors] {
    var first: Instant?
    var byID: [OfLineage<Int64>: Instant] = [:]
    var found: [Successors] = []
    found.reserveCapacity(count)
    for purchase in reversed() {
      let event = purchase.stateReports[0]
      let id = OfLineage(event, event.transaction)
      found.append(Successors(first: first, ofItsID: id.value == 0 ? nil : byID[id]))
      guard !purchase.isOneTime else { continue }
      first = purchase.place.0
      byID[id] = first
    }
    return found.reversed()
  }
}
