internal import Domain

/// The layout of an observation in an event's content (EventCoding.swift).
///
/// A number whose bits mark present and true fields, the group, then the times as distances in
/// milliseconds from the event's time.
enum ObservationCoding {
  private enum Flag {
    static let firstPurchased: UInt64 = 1 << 0
    static let lastCharged: UInt64 = 1 << 1
    static let autoRenewChanged: UInt64 = 1 << 2
    static let pending: UInt64 = 1 << 3
    static let replaced: UInt64 = 1 << 4
    static let shared: UInt64 = 1 << 5
    static let undated: UInt64 = 1 << 6
    static let oneTime: UInt64 = 1 << 7
    static let subscription: UInt64 = 1 << 8
    static let timeInferred: UInt64 = 1 << 17
  }

  /// The first of the two bits of a truth value that may be unknown: sent, and true.
  private enum Answer: UInt64 {
    case isOwned = 9
    case isAutoRenewing = 11
    case isInBillingRetry = 13
    case isTrial = 15

    func bits(_ value: Bool?) -> UInt64 {
      value.map { ($0 ? 0b11 : 0b01) << rawValue } ?? 0
    }

    func value(in flags: UInt64) -> Bool? {
      let bits = flags >> rawValue & 0b11
      return bits == 0 ? nil : bits == 0b11
    }
  }

  static func encode(_ state: Observation, at time: Instant, to writer: inout ByteWriter) {
    writer.put(unsigned: flags(state))
    writer.put(Int64(state.group))
    for moment in [state.firstPurchasedAt, state.lastChargedAt, state.autoRenewChangedAt] {
      if let moment { writer.put(moment.milliseconds &- time.milliseconds) }
    }
  }

  static func decode(_ reader: inout ByteReader, at time: Instant) -> Observation {
    let flags = reader.unsigned()
    func has(_ flag: UInt64) -> Bool { flags & flag != 0 }
    func moment(_ flag: UInt64) -> Instant? {
      has(flag) ? Instant(milliseconds: time.milliseconds &+ reader.signed()) : nil
    }
    var state = Observation()
    state.group = StringID(truncatingIfNeeded: reader.signed())
    state.firstPurchasedAt = moment(Flag.firstPurchased)
    state.lastChargedAt = moment(Flag.lastCharged)
    state.autoRenewChangedAt = moment(Flag.autoRenewChanged)
    state.isPending = has(Flag.pending)
    state.isReplaced = has(Flag.replaced)
    state.isShared = has(Flag.shared)
    state.isUndated = has(Flag.undated)
    state.isTimeInferred = has(Flag.timeInferred)
    if has(Flag.oneTime) { state.productType = .oneTime }
    if has(Flag.subscription) { state.productType = .subscription }
    state.isOwned = Answer.isOwned.value(in: flags)
    state.isAutoRenewing = Answer.isAutoRenewing.value(in: flags)
    state.isInBillingRetry = Answer.isInBillingRetry.value(in: flags)
    state.isTrial = Answer.isTrial.value(in: flags)
    return state
  }

  private static func flags(_ state: Observation) -> UInt64 {
    var flags =
      Answer.isOwned.bits(state.isOwned) | Answer.isAutoRenewing.bits(state.isAutoRenewing)
      | Answer.isInBillingRetry.bits(state.isInBillingRetry) | Answer.isTrial.bits(state.isTrial)
    func set(_ flag: UInt64, _ isSet: Bool) { if isSet { flags |= flag } }
    set(Flag.firstPurchased, state.firstPurchasedAt != nil)
    set(Flag.lastCharged, state.lastChargedAt != nil)
    set(Flag.autoRenewChanged, state.autoRenewChangedAt != nil)
    set(Flag.pending, state.isPending)
    set(Flag.replaced, state.isReplaced)
    set(Flag.shared, state.isShared)
    set(Flag.undated, state.isUndated)
    set(Flag.timeInferred, state.isTimeInferred)
    set(Flag.oneTime, state.productType == .oneTime)
    set(Flag.subscription, state.productType == .subscription)
    return flags
  }
}

extension Observation {
  /// Returns the fields by name, as text, for `Event.materialFields`; an absent value is empty.
  func materialFields(words: [String]) -> [(name: String, value: String)] {
    func answer(_ value: Bool?) -> String { value.map { "\($0)" } ?? "" }
    func time(_ value: Instant?) -> String { value.map { String($0.milliseconds) } ?? "" }
    return [
      ("product_type", productType?.name ?? ""), ("is_owned", answer(isOwned)),
      ("is_auto_renewing", answer(isAutoRenewing)),
      ("auto_renew_changed_at", time(autoRenewChangedAt)),
      ("is_in_billing_retry", answer(isInBillingRetry)), ("is_trial", answer(isTrial)),
      ("is_pending", answer(isPending)), ("is_replaced", answer(isReplaced)),
      ("is_shared", answer(isShared)), ("first_purchased_at", time(firstPurchasedAt)),
      ("last_charged_at", time(lastChargedAt)), ("group", words[Int(group)]),
      ("is_undated", answer(isUndated)), ("is_time_inferred", answer(isTimeInferred)),
    ]
  }
}
