/// The base plans of Play's products that occur in a ledger.
///
/// An event's product is `product:base_plan` where the base plan is known. Configuration, price
/// book and snapshots may name the product alone.
public struct BasePlans: Sendable {
  /// Maps the symbol of a product with base plan to that of the product alone, where both occur.
  public private(set) var products: [StringID: StringID] = [:]
  private var plans: [String: [String]] = [:]
  private var texts = StringTable()

  /// No base plans.
  public init() {}

  /// The base plans in the texts of a ledger.
  public init(in texts: StringTable) {
    self.texts = texts
    for (index, text) in texts.words.enumerated() {
      guard let product = text.withoutBasePlan else { continue }
      plans[product, default: []].append(text)
      if let symbol = texts.find(product) { products[StringID(index)] = symbol }
    }
    // Symbols are numbered by order of arrival, which differs between ledgers.
    plans = plans.mapValues { $0.sorted() }
  }

  /// The ids with a base plan of `product`.
  public func plans(of product: String) -> [String] { plans[product] ?? [] }

  /// The names under which events can report the product `id`: for a product, its base plans; for a
  /// base plan, also the product alone, if it occurs.
  public func names(of id: String) -> [String] {
    if let product = id.withoutBasePlan {
      return texts.find(product) == nil ? [id] : [id, product]
    }
    let plans = plans(of: id)
    return plans.isEmpty || texts.find(id) != nil ? plans + [id] : plans
  }
}

extension String {
  /// The product of `product:base_plan`; nil without a base plan.
  public var withoutBasePlan: String? {
    let text = utf8
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon != text.startIndex,
      text.index(after: colon) != text.endIndex
    else { return nil }
    return String(self[..<colon])
  }
}
