/// What one body of a provider tells.
public enum BodyContent: Sendable, Hashable {
  /// One thing that happened.
  case event
  /// How one purchase stands.
  case purchase
  /// How all purchases of a user stand; in iaptic's newer ones also what brought the body about.
  case collection
}

/// What differs between the providers, each fact with its source.
///
/// No `switch` here has a default: a provider more is one that the compiler asks about.
extension Provider {
  /// What one body tells.
  ///
  /// Sources: the body fields on the four vendors' webhook pages.
  public var body: BodyContent {
    switch self {
    case .qonversion, .purple: .event
    case .flobuk: .purchase
    case .iaptic: .collection
    }
  }

  /// Whether its ids say which purchases continue each other, so that a lineage is a life of its
  /// own; else lives are put together from all lineages of a user.
  ///
  /// Sources: Qonversion's original transaction id stays over renewals, lapses and changes of
  /// product. FLOBUK's `transaction` is another with each renewal, iaptic's `purchaseId` and
  /// Purple's ids with each purchase; Purple sent no original ids at first.
  public var linksPurchases: Bool {
    switch self {
    case .qonversion: true
    case .flobuk, .iaptic, .purple: false
    }
  }

  /// Whether what it tells of a renewal in `store` says what is renewed, or who renews.
  ///
  /// Sources: FLOBUK's messages of a store's own doing have neither user nor original id; the order
  /// ids of Play have that of the first order in them.
  public func chainsRenewals(in store: Store) -> Bool {
    switch self {
    case .qonversion, .iaptic, .purple: true
    case .flobuk: store == .playStore
    }
  }

  /// Whether each charge comes with what was paid and the end of what that pays for.
  ///
  /// One that lacks them is odd then; with the others it is the rule, and price book and lengths of
  /// products stand in.
  ///
  /// Sources: `revenue` and `expires` of Qonversion, but for bodies of 2020. FLOBUK sends no money,
  /// Purple neither, and iaptic's amounts and `expirationDate` may be missing or null.
  public var sendsWholeCharges: Bool {
    switch self {
    case .qonversion: true
    case .flobuk, .iaptic, .purple: false
    }
  }

  /// Whether it sends ends of periods at all.
  ///
  /// Sources: `expires`, `data.expiresDate`, `expirationDate`; Purple's events have no such
  /// property, so that an end follows from the product's length or from when an expiry was noticed.
  public var sendsPeriodEnds: Bool {
    switch self {
    case .qonversion, .flobuk, .iaptic: true
    case .purple: false
    }
  }

  /// Whether the end of grace has a field of its own; else the period's end is that of the grace.
  ///
  /// Source: Qonversion's `grace_period_expires`.
  public var sendsGraceEnds: Bool {
    switch self {
    case .qonversion: true
    case .flobuk, .iaptic, .purple: false
    }
  }

  /// Whether a renewal brings its number along.
  ///
  /// Source: Qonversion's `subscription_renew_count`.
  public var numbersRenewals: Bool {
    switch self {
    case .qonversion: true
    case .flobuk, .iaptic, .purple: false
    }
  }

  /// Whether each end has an event, so that silence about one proves a loss.
  ///
  /// Sources: Qonversion's list of events. FLOBUK promises none, Purple has no word for the refund
  /// of a subscription, and what iaptic's collections no longer hold was never told.
  public var tellsEveryEnd: Bool {
    switch self {
    case .qonversion: true
    case .flobuk, .iaptic, .purple: false
    }
  }

  /// Whether a store that gave up collecting has an event of its own, so that a cancel is always
  /// the user's.
  ///
  /// Source: Purple's SUBSCRIPTION_CANCELLED_INVOLUNTARY.
  public var namesGivingUp: Bool {
    switch self {
    case .purple: true
    case .qonversion, .flobuk, .iaptic: false
    }
  }

  /// Whether refunds of things of this type are told at all.
  ///
  /// Sources: FLOBUK's `data` has no refund flag; Purple announces PRODUCT_CANCELLED for one-time
  /// purchases only.
  public func tellsRefunds(of type: ProductType) -> Bool {
    switch self {
    case .qonversion, .iaptic: true
    case .flobuk: false
    case .purple: type == .oneTime
    }
  }

  /// Whether pauses are told.
  ///
  /// Source: iaptic's PAUSED. The codes of FLOBUK's `status` are not published.
  public var tellsPauses: Bool {
    switch self {
    case .iaptic: true
    case .qonversion, .flobuk, .purple: false
    }
  }

  /// Whether a trial can be told from a paid period.
  ///
  /// Sources: Qonversion's `trial_started`, iaptic's `isTrialPeriod`, Purple's `trialPeriod`;
  /// FLOBUK's `data` has no such flag.
  public var tellsTrials: Bool {
    switch self {
    case .qonversion, .iaptic, .purple: true
    case .flobuk: false
    }
  }

  /// Whether test purchases can be told from real ones.
  ///
  /// Sources: Qonversion's `environment`, `sandbox` of FLOBUK and iaptic; Purple marks none.
  public var marksTests: Bool {
    switch self {
    case .qonversion, .flobuk, .iaptic: true
    case .purple: false
    }
  }

  /// Whether one purchase may belong to several users in turn or at once, without a word about it.
  ///
  /// Sources: FLOBUK's alias mode lets up to six users share a purchase, transfer mode moves it.
  /// iaptic sends each entitled user a collection of their own.
  public var sharesPurchases: Bool {
    switch self {
    case .flobuk: true
    case .qonversion, .iaptic, .purple: false
    }
  }

  /// Whether its snapshots list the newest purchase of each product, those of past products too.
  ///
  /// Sources: FLOBUK's Get User and iaptic's purchases of a customer.
  public var listsPastProducts: Bool {
    switch self {
    case .flobuk, .iaptic: true
    case .qonversion, .purple: false
    }
  }

  /// Whether its snapshots name products of its dashboard in place of the store's.
  ///
  /// Source: `product.product_id` of Qonversion's entitlements.
  public var namesOwnProducts: Bool {
    switch self {
    case .qonversion: true
    case .flobuk, .iaptic, .purple: false
    }
  }
}
