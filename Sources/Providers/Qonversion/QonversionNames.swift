import Formats
import Domain

/// Qonversion's event names and their meaning.
///
/// Sources: the defaults are the names of the SDKs' event list; display names are from
/// documentation.qonversion.io, Integrations Overview and Events Analytics. `in_app_refunded` is
/// inferred from its display name.
struct QonversionNames {
  private let configured: KeyTable
  private let configuredKinds: [EventKind]
  private let known: KeyTable

  init(configured names: [String: EventKind]) {
    let sorted = names.sorted { $0.key < $1.key }
    configured = KeyTable(sorted.map(\.key))
    configuredKinds = sorted.map(\.value)
    known = KeyTable(Self.defaults.map(\.name))
  }

  /// The meaning of `name`; nil if it has no mapping.
  func meaning(of name: UnsafeRawBufferPointer) -> Meaning? {
    if let index = configured.index(of: name) { return .event(configuredKinds[index]) }
    if let index = known.index(of: name) { return Self.defaults[index].meaning }
    let wireName = Self.wireName(name)
    guard let index = wireName.withUnsafeBytes(known.index(of:)) else { return nil }
    return Self.defaults[index].meaning
  }

  /// A display name in the form of the defaults: `In-App Purchase` becomes `in_app_purchase`, and
  /// British `cancelled` becomes American `canceled`.
  private static func wireName(_ name: UnsafeRawBufferPointer) -> [UInt8] {
    var wire: [UInt8] = []
    for byte in name.prefix(64) {
      let isGap = byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-")
      wire.append(isGap ? UInt8(ascii: "_") : lowered(byte))
    }
    let british = Array("cancelled".utf8)
    if wire.suffix(british.count).elementsEqual(british) {
      wire.replaceSubrange((wire.count - british.count)..., with: "canceled".utf8)
    }
    return wire
  }

  private static let defaults: [(name: String, meaning: Meaning)] = [
    ("subscription_renewed", .event(.renewed)),
    ("subscription_started", .event(.started)),
    ("subscription_upgraded", .event(.upgraded)),
    ("subscription_downgraded", .event(.downgraded)),
    ("subscription_product_changed", .event(.productChanged)),
    ("subscription_canceled", .event(.canceled)),
    ("subscription_billing_retry_entered", .event(.billingRetry)),
    ("subscription_billing_retry", .event(.billingRetry)),
    ("subscription_expired", .event(.expired)),
    ("subscription_refunded", .event(.refunded)),
    ("trial_started", .event(.trialStarted)),
    ("trial_converted", .event(.trialConverted)),
    ("trial_canceled", .event(.trialCanceled)),
    ("trial_billing_retry_entered", .event(.trialBillingRetry)),
    ("trial_billing_retry", .event(.trialBillingRetry)),
    ("trial_expired", .event(.trialExpired)),
    ("in_app_purchase", .event(.purchased)),
    ("in_app_refunded", .event(.purchaseRefunded)),
    ("trial_still_active", .skipped(.trialStillActive)),
    ("trial_is_active_two_days_after_started", .skipped(.trialStillActive)),
    ("trial_is_active_three_days_after_started", .skipped(.trialStillActive)),
  ]
}

extension Store {
  init(qonversionPlatform word: UnsafeRawBufferPointer) {
    self = Store(word, in: Self.qonversionPlatforms) ?? .unknown
  }

  private static let qonversionPlatforms: [(word: StaticString, store: Store)] = [
    ("ios", .appStore), ("android", .playStore), ("stripe", .stripe), ("macos", .macAppStore),
    ("amazon", .amazon), ("windows", .windows), ("paypal", .paypal),
  ]
}

extension Environment {
  /// The environment that `word` names; production when it is empty; nil for another word.
  init?(word: UnsafeRawBufferPointer) {
    if word.isEmpty || word.isWord("production") {
      self = .production
    } else if word.isWord("sandbox") {
      self = .sandbox
    } else {
      return nil
    }
  }
}
