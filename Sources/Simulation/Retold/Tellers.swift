import Domain

// One world, seen through the eyes of several providers.

extension WorldPlan {
  /// Who tells of the world, each once.
  var tellers: [Provider] { Provider.allCases.filter(providers.contains) }
}

extension Life {
  /// The life as a provider tells it; nil when it tells nothing of its shop.
  ///
  /// What was lived stays as it was. What is told of it, and what reports must make of that,
  /// differ by provider.
  func told(by provider: Provider, _ span: Span) -> Life? {
    switch provider {
    case .qonversion: self
    case .flobuk: toldByFlobuk(span)
    case .iaptic: toldByIaptic(span)
    case .purple: toldByPurple(span)
    }
  }

  /// What reports must make of the life.
  var reported: Reported {
    retold ?? Reported(subscriptions: subscriptions, purchases: purchases)
  }
}

/// What reports must make of a life that a provider tells.
struct Reported: Sendable {
  /// Periods that the fold must put together, in order of time.
  var subscriptions: [Subscription] = []
  /// What does not renew.
  var purchases: [Charge] = []
  /// Charges that nothing chains to a subscription: booked, and in no count of subscriptions.
  var unchained: [Charge] = []
  /// Where the amounts come from.
  var basis = AmountBasis.provider
}

extension Provider {
  /// Whether money that goes back is told at all: FLOBUK has no word for it, and Purple one for
  /// one-time purchases alone.
  func tellsRefunds(of type: ProductType) -> Bool {
    switch self {
    case .qonversion, .iaptic: true
    case .flobuk: false
    case .purple: type == .oneTime
    }
  }
}

/// What one provider delivers for one app.
struct NamedFeed: Sendable, Hashable {
  var provider: Provider
  var app: String
}

extension Shop {
  /// Every shop of the world in every provider's eyes.
  static var all: [Shop] {
    var shops: [Shop] = []
    for provider in Provider.allCases {
      for app in App.all.indices {
        for store in App.stores.indices {
          for isBare in provider == .flobuk ? [false, true] : [false] {
            shops.append(
              Shop(app: app, storeIndex: store, provider: provider, isBare: isBare))
          }
        }
      }
    }
    return shops
  }

  var feed: NamedFeed { NamedFeed(provider: provider, app: appID) }

  /// The app as bodies or headers name it; empty where neither does.
  var appID: String {
    switch provider {
    case .qonversion: App.all[app].ids[storeIndex]
    case .flobuk: isBare ? "" : App.all[app].flobukID
    case .iaptic: ""
    case .purple: App.all[app].ids[1]
    }
  }

  /// The store as the provider names it: FLOBUK has PayPal where others have Stripe.
  var reportedStore: Store { provider == .flobuk && store == .stripe ? .paypal : store }
}
