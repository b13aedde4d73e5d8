import Domain
import Formats

/// The members of a Qonversion webhook body that are used here, and the members that archive
/// writers add at top level.
///
/// Source: documentation.qonversion.io, Webhooks. Personal data (`properties`, `ip`, device and
/// advertising ids) is left out on purpose: what is never read cannot leak.
enum QonversionField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case eventName, userID, time, createdAt
  case productID, oldProductID, newProductID, subscriptionGroup
  case revenue, price, quantity, transaction, subscriptionRenewCount, entitlements
  case environment, platform, country, storefront, appID, projectName
  /// Receive time: Vector adds `timestamp`, Fluent Bit `date`, table exports the others. The body
  /// itself never has members of these names.
  case received

  var names: [String] { self == .received ? receivedNames : [snakeCase] }

  static let unread =
    [
      "custom_user_id", "identity_id", "advertiser_id", "properties", "device_id", "app_version",
      "sdk_version", "ip", "locale", "user_install_date", "asa_attribution",
    ] + addedNames
}

/// A member of a Qonversion body with the app's own id of the user; read only if configured.
public enum CustomerIDMember: String, CaseIterable, Sendable {
  /// Passed to the SDK's `identify`.
  case identityID = "identity_id"
  /// Set as a property of the user.
  case customUserID = "custom_user_id"
}

enum QonversionTransactionField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case transactionID, originalTransactionID, transactionDate, expires, gracePeriodExpires

  var names: [String] { [snakeCase] }
}

enum QonversionMoneyField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case value, valueUSD, currency, isProceed, proceedsRate

  var names: [String] { [snakeCase] }
}

/// Qonversion's event names and their meaning.
///
/// Sources: the defaults are the names of the SDKs' event list; display names are from
/// documentation.qonversion.io, Integrations Overview and Events Analytics. `in_app_refunded` is
/// inferred from its display name.
struct QonversionNames {
  private let configured: KeyTable
  private let configuredKinds: [EventKind]

  init(configured names: [String: EventKind]) {
    configured = KeyTable(Array(names.keys))
    configuredKinds = Array(names.values)
  }

  /// The meaning of `name`; nil if it has no mapping.
  func meaning(of name: UnsafeRawBufferPointer) -> Meaning? {
    if let index = configured.index(of: name) { return .event(configuredKinds[index]) }
    return Self.defaults.entry(of: name)?.meaning
  }

  private static let defaults = EventNames([
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
  ])
}
