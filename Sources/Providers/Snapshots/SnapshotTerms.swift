import Domain

// Names out of the closed lists of snapshots, as `JSONTape.term` gives them: lower case, without
// underscores, spaces and points. Source: the value maps of the Qonversion SDKs (iOS QNMapper,
// Android QPermission).

extension Store {
  /// The shop that an entitlement's `source` or a purchase's `platform` names.
  init(snapshotSource term: String) {
    switch term {
    case "appstore", "ios": self = .appStore
    case "macappstore", "macos": self = .macAppStore
    case "playstore", "googleplay", "android": self = .playStore
    case "stripe": self = .stripe
    case "amazon": self = .amazon
    case "windows": self = .windows
    case "paypal": self = .paypal
    default: self = .unknown
    }
  }
}

extension RenewState {
  /// The state that a name or the SDK's number stands for; nil when not sent.
  init?(term: String) {
    switch term {
    case "": return nil
    case "-1", "nonrenewable": self = .nonRenewable
    case "1", "willrenew": self = .willRenew
    case "2", "canceled", "cancelled": self = .canceled
    case "3", "billingissue": self = .billingIssue
    default: self = .unknown
    }
  }
}

extension SnapshotTransactionKind {
  /// What a transaction's `type` says it was.
  init(term: String) {
    switch term {
    case "trialstarted": self = .trialStarted
    case "subscriptionstarted": self = .started
    case "subscriptionrenewed": self = .renewed
    case "introstarted": self = .introStarted
    case "introrenewed": self = .introRenewed
    case "nonconsumablepurchase": self = .oneTime
    default: self = .unknown
    }
  }

  /// The same for a transaction that names an offer.
  var atOfferPrice: Self {
    switch self {
    case .started: .introStarted
    case .renewed: .introRenewed
    case .unknown, .trialStarted, .introStarted, .introRenewed, .oneTime, .free: self
    }
  }
}
