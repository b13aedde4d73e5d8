/// The base plans of Play's products that occur in a ledger.
///
/// An event's product is `product:base_plan` where the base plan is known. Configuration, price
/// book and snapshots may name the product alone.
public struct BasePlans: Sendable {
  /// The symbol of the product alone by that of the product with base plan, where both occur.
  public private(set) var products: [StringID: StringID] = [:]
  private var plans: [String: [String]] = [:]
  private var texts = StringTable()

  /// No base plans.
  public init() {}

  /// Those in the texts of a ledger.
  public init(in texts: StringTable) {
    self.texts = texts
    for (index, text) in texts.words.enumerated() {
      guard let product = text.withoutBasePlan else { continue }
      plans[product, default: []].append(text)
      if let symbol = texts.find(product) { products[StringID(index)] = symbol }
    }
    // Symbols are in the order of arrival.
    plans = plans.mapValues { $0.sorted() }
  }

  /// The ids with a base plan of `product`.
  public func plans(of product: String) -> [String] { plans[product] ?? [] }

  /// What events can call the product `id`: of a product its base plans, of a base plan also the
  /// product alone, if that occurs.
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
