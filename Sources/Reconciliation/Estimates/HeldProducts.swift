import Subscriptions
import Domain

extension Reconciler {
  /// The app of a purchase without a lineage: the snapshot's, else the only one that sells such a
  /// product, else the user's only one; empty when there are several candidates.
  private func inferredApp(selling products: [String], in store: Store) -> String {
    if let app = user.snapshot?.app, !app.isEmpty { return app }
    let sellers = rules.apps(of: user.provider, selling: products, in: store)
    if let app = sellers.first, sellers.count == 1 { return app }
    let used = Set(lineages.map(\.app).filter { !$0.isEmpty })
    return used.count == 1 ? used.first ?? "" : ""
  }

  /// Store product ids of a snapshot's product, as events can name it; nil when it is not mapped.
  func storeProducts(_ product: String) -> [String]? {
    if let known = storeProductsFound[product] { return known }
    // A list of purchases names the store's product, not the dashboard's.
    let isStores =
      !capabilities.namesDashboardProducts
      || view.transactions.contains { $0.product.isExactly(product) }
    let named = rules.products[product] ?? (!product.isEmpty && isStores ? [product] : nil)
    let found = named?.flatMap(names(of:))
    storeProductsFound[product] = .some(found)
    return found
  }

  /// The product `id` with the base plans that occur in the ledger, or without its own plan if that
  /// occurs, and as in the user's own subscriptions.
  private func names(of id: String) -> [String] {
    let (known, alone) = (rules.basePlans.names(of: id), id.withoutBasePlan)
    let own = allLineages.map(\.product).filter { product in
      (product.withoutBasePlan == id || alone == product) && !known.contains(product)
    }
    return known + Set(own).sorted()
  }

  /// The product of a charge at `instant`: of a renewal the last reported before it, else the next;
  /// of a start the first reported after it, else the last before it.
  func product(of lineage: LineageInput, at instant: Instant, isStart: Bool = false) -> String {
    let before = lineage.productReported(until: instant)
    let after = lineage.productHeld(after: instant)
    let known = isStart ? after ?? before : before ?? after
    return withOnlyPlan(known ?? lineage.product, in: lineage)
  }

  /// The product with its only base plan, unless the subscription has it without: a change can name
  /// it without.
  func withOnlyPlan(_ product: String, in lineage: LineageInput) -> String {
    let plans = rules.basePlans.plans(of: product)
    let isOwn = lineage.latest.charges.contains { lineage.text($0.product) == product }
    return plans.count == 1 && !isOwn ? plans[0] : product
  }

  /// The purchase of an entitlement without a lineage.
  func subject(of entitlement: Entitlement) -> BreakSubject {
    subject(buying: storeProducts(entitlement.product) ?? [], in: entitlement.store)
  }

  /// A purchase of one of `products` without a lineage.
  func subject(buying products: [String], in store: Store, original: String = "") -> BreakSubject {
    BreakSubject(
      provider: user.provider, app: inferredApp(selling: products, in: store), store: store,
      user: user.user, original: original, product: soldProduct(products, in: store) ?? "")
  }

  /// The one of several ids of a product that `store` sells, by events; nil if it can be several.
  func soldProduct(_ ids: [String], in store: Store) -> String? {
    if ids.count < 2 { return ids.first }
    let sold = rules.sold.filter { $0.provider == user.provider && ids.contains($0.product) }
    let exact = sold.filter { $0.store == store }
    let here = Set((exact.isEmpty ? sold.filter { $0.store.mayBe(store) } : exact).map(\.product))
    let left = ids.filter { id in
      here.isEmpty ? !sold.contains { $0.product == id } : here.contains(id)
    }
    return left.count == 1 ? left[0] : nil
  }
}

extension LineageInput {
  /// Its store, or the one that a snapshot shows: that has one name for both of Apple's.
  func store(shownAs shown: Store) -> Store { state.store == .unknown ? shown : state.store }

  /// The product of the last charge or product change up to `instant`; an announced change applies
  /// from the next charge on.
  func productReported(until instant: Instant) -> String? {
    let charge = latest.subscriptionCharges.last { $0.time <= instant }
    let change = latest.productChanges.last { $0.product != 0 && $0.time <= instant }
    if let change, charge.map({ $0.time < change.time }) ?? true { return text(change.product) }
    return charge.map { text($0.product) }
  }

  /// The product of the first charge after `instant`; if a product change comes first or is that
  /// charge, its previous product.
  func productHeld(after instant: Instant) -> String? {
    let charge = latest.subscriptionCharges.first { $0.time > instant }
    let change = latest.productChanges.first { $0.previousProduct != 0 && $0.time > instant }
    if let change, charge.map({ change.time <= $0.time }) ?? true {
      return text(change.previousProduct)
    }
    return charge.map { text($0.product) }
  }
}
