import Domain

/// An interval in which a lineage is active without interruption: paid periods that follow each
/// other within the renewal gap.
struct ActiveInterval: Sendable {
  var periods: [Int]
  var start: Instant
  /// When it ended; nil while it counts as active.
  var end: Instant?
  var opening: Movement
  /// Why it ended; nil while it counts as active or when it is paused.
  var reason: ChurnReason?

  var closing: Movement { end != nil && reason == nil ? .paused : .churned }

  /// Whether it is active at a boundary T: start < T ≤ end.
  func isActive(at boundary: Instant) -> Bool {
    start < boundary && (end.map { boundary <= $0 } ?? true)
  }
}

func activeIntervals(of periods: [Period], events: [Event], rules: FoldSettings) -> [ActiveInterval]
{
  var stretches: [ActiveInterval] = []
  var trial: Period?
  for index in periods.indices {
    let period = periods[index]
    guard !period.isTrial else {
      trial = period
      continue
    }
    let opening: Movement
    if let current = stretches.indices.last, let previous = stretches[current].periods.last {
      if continues(periods[previous], with: period, gap: rules.renewalGap) {
        stretches[current].periods.append(index)
        continue
      }
      // Paid again: resumed after a pause, recovered while the store collected, else reactivated.
      let ended = periods[previous]
      close(&stretches[current], with: ended, events, rules)
      let isRecovered = ended.collectedUntil(events, rules).map { period.start <= $0 } ?? false
      opening = ended.isPaused(events) ? .resumed : isRecovered ? .recovered : .reactivated
    } else {
      opening = firstOpening(period, after: trial, events, rules)
    }
    stretches.append(ActiveInterval(periods: [index], start: period.start, opening: opening))
  }
  closeLast(&stretches, periods: periods, events: events, rules: rules)
  return stretches
}

private func continues(_ period: Period, with next: Period, gap: Interval) -> Bool {
  if let taken = period.revokedAt { return next.start <= taken }
  guard let end = period.effectiveEnd else { return true }
  return next.start <= end + gap
}

private func close(
  _ stretch: inout ActiveInterval, with last: Period, _ events: [Event], _ rules: FoldSettings
) {
  stretch.end = last.effectiveEnd.map { max($0, stretch.start) }
  let isPaused = last.endedInPause(events, gap: rules.renewalGap)
  stretch.reason = isPaused ? nil : last.churnReason(events)
}

/// Closes the last interval once no further charge can arrive.
private func closeLast(
  _ stretches: inout [ActiveInterval], periods: [Period], events: [Event], rules: FoldSettings
) {
  guard let current = stretches.indices.last, let last = stretches[current].periods.last,
    let end = periods[last].effectiveEnd
  else { return }
  let isPaused = periods[last].endedInPause(events, gap: rules.renewalGap) && end < rules.asOf
  let isReported = isPaused || periods[last].revokedAt != nil
  // Any feed that reported the period can show that nothing followed.
  guard
    isReported
      || periods[last].ownEvents.contains(where: {
        end <= rules.endsAreFinal(until: events[$0].feed)
      })
  else { return }
  close(&stretches[current], with: periods[last], events, rules)
}

/// The first paid period is new unless there is evidence of an earlier one.
private func firstOpening(
  _ period: Period, after trial: Period?, _ events: [Event], _ rules: FoldSettings
) -> Movement {
  let event = events[period.opener]
  switch event.kind {
  case .trialConverted: return .new
  case .started, .resubscribed:
    if let trial {
      // The first payment converts the trial, whatever the counter says.
      let isCounted = (event.renewalCount ?? 0) >= 1
      return isCounted && !trial.isConverted(at: period.start, events, rules) ? .firstSeen : .new
    }
    if event.kind == .resubscribed, !event.provider.capabilities.hasStableOriginalID {
      return .reactivated
    }
    return (event.renewalCount ?? 0) >= 1 || !event.startsLineage ? .firstSeen : .new
  case .upgraded, .downgraded, .productChanged: return trial != nil ? .new : .firstSeen
  default: return .firstSeen
  }
}
