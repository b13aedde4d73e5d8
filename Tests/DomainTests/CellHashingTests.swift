import Testing
import Domain

@Suite("Hashing of cells")
struct CellHashingTests {
  /// Keys as from a year of sales: they differ in small numbers.
  private let keys: [RevenueKey] = (0..<20_000).map { number in
    let productKey = ProductKey(
      provider: .qonversion, app: 1, store: number % 2 == 0 ? .appStore : .playStore,
      product: StringID(2 + number / 2 % 20))
    return RevenueKey(
      day: Day(number: Int32(20_000 + number / 40 % 50)), productKey: productKey,
      productType: .subscription, chargeKind: .renewal, country: StringID(50 + number / 2_000),
      storefront: 0, currency: 60, rate: nil, basis: .provider)
  }

  @Test("Similar keys are spread over every table", arguments: [0, 8, -1])
  func spread(seed: Int) {
    var places: [Int: Int] = [:]
    for key in keys { places[key._rawHashValue(seed: seed) & 0x7fff, default: 0] += 1 }
    // At random, 20,000 keys fill 14,970 of 32,768 slots, rarely with more than six in one.
    #expect(places.count > 14_500)
    #expect((places.values.max() ?? 0) < 12)
  }

  @Test("Each table has its own order")
  func seeds() {
    let orders = [1, 2].map { seed in
      keys.sorted { $0._rawHashValue(seed: seed) < $1._rawHashValue(seed: seed) }
    }
    let unmoved = keys.indices.count { orders[0][$0] == orders[1][$0] }
    #expect(unmoved < 20)
  }
}
