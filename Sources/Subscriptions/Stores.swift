import Domain

extension [Event] {
  /// The events in business order, with stores added by product.
  ///
  /// An event without a store gets the only store that reported its product, else the store in
  /// which a subscription to it was running at the time.
  ///
  /// Purple shows the store only in the form of its transaction ids, which some events lack. If
  /// subscriptions run in two stores, the event stays without one.
  var withStoresOfTheirProducts: [Event] {
    guard contains(where: { $0.store == .unknown }) else { return self }
    var known: [StringID: Set<Store>] = [:]
    for event in self where event.store != .unknown {
      for product in event.products { known[product, default: []].insert(event.store) }
    }
    var holdings = RunningStores()
    var placed = self
    for index in indices {
      if self[index].store == .unknown {
        let stores = self[index].products.reduce(into: Set<Store>()) {
          $0.formUnion(known[$1] ?? [])
        }
        if let store = stores.only ?? holdings.store(of: self[index]) {
          placed[index].store = store
        }
      }
      holdings.read(placed[index])
    }
    return placed
  }

  /// The events of one fold group by app.
  ///
  /// An event without app, as on Purple's page, gets the provider's only app, else the only app in
  /// which the user had its product.
  func byApp(_ rules: FoldSettings) -> [[Event]] {
    guard let first, first.app == 0 || contains(where: { $0.app != first.app }) else {
      return [self]
    }
    var sellers: [StringID: Set<StringID>] = [:]
    for event in self where event.app != 0 && event.time < rules.asOf {
      for product in event.products { sellers[product, default: []].insert(event.app) }
    }
    var named = self
    for index in indices where self[index].app == 0 && first.provider.capabilities.omitsApps {
      let apps = self[index].products.reduce(into: Set()) { $0.formUnion(sellers[$1] ?? []) }
      named[index].app = rules.onlyApps[first.provider] ?? apps.only ?? 0
    }
    func lowest(_ events: [Event]) -> Int64 { events.lazy.map(\.identity).min() ?? 0 }
    return Dictionary(grouping: named, by: \.app).values.sorted { lowest($0) < lowest($1) }
  }
}

/// The stores in which a user's subscription to each product runs.
private struct RunningStores {
  private var running: [StringID: Set<Store>] = [:]
  /// The store in which it last ended.
  private var ended: [StringID: Store] = [:]

  /// The only store in which a product of the event runs; if none, the one in which it last ended.
  func store(of event: Event) -> Store? {
    let running = event.products.reduce(into: Set<Store>()) { $0.formUnion(self.running[$1] ?? []) }
    return running.isEmpty ? ended[event.product] : running.only
  }

  mutating func read(_ event: Event) {
    guard event.store != .unknown else { return }
    if event.opensSubscription || event.kind.isProductChange {
      if event.previousProduct != 0, event.kind != .downgraded {
        end(event.previousProduct, in: event.store)
      }
      running[event.product, default: []].insert(event.store)
    } else if event.isExpiry {
      end(event.product, in: event.store)
    }
  }

  private mutating func end(_ product: StringID, in store: Store) {
    running[product]?.remove(store)
    ended[product] = store
  }
}

extension Set {
  /// Its only member; nil when it has none or several.
  var only: Element? { count == 1 ? first : nil }
}
