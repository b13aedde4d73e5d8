import Testing
import Domain

@testable import Subscriptions

@Suite("An event with a product alone means the subscription's base plan")
struct NamedBasePlanTests {
  private static let monthly: StringID = 2
  private static let yearly: StringID = 3

  /// The base plans 2 and 3 of product 1.
  private let plans: BasePlans = {
    var texts = StringTable()
    for text in ["pro", "pro:monthly", "pro:yearly"] { _ = texts.symbol(text) }
    return BasePlans(in: texts)
  }()

  private func named(_ products: [(product: StringID, previous: StringID)]) -> [[StringID]] {
    let events = products.enumerated().map { index, named in
      var event = Event(kind: .renewed, time: Instant(seconds: Int64(index)))
      (event.product, event.previousProduct) = named
      return event
    }
    return events.namingBasePlans(plans).map { [$0.product, $0.previousProduct] }
  }

  @Test("The base plan is that of the previous event, otherwise of the next")
  func neighbours() {
    #expect(
      named([(1, 0), (Self.monthly, 0), (1, 0), (Self.yearly, 1), (1, 0)])
        == [[2, 0], [2, 0], [2, 0], [3, 2], [3, 0]])
    // The credit for the old product finds its charge.
    #expect(named([(1, 0), (7, 1), (Self.monthly, 7)]) == [[2, 0], [7, 2], [2, 7]])
  }

  @Test("Without a base plan, or with another product, nothing changes")
  func others() {
    #expect(named([(1, 0), (1, 1)]) == [[1, 0], [1, 1]])
    #expect(named([(7, 0), (Self.monthly, 7)]) == [[7, 0], [2, 7]])
    #expect(named([(Self.yearly, 1)]) == [[3, 1]])
  }

  @Test("A change of base plan is a product change, and its credit belongs to the old plan")
  func change() throws {
    var story = Story()
    story.report(.started, "2026-03-01", until: "2026-04-01", price: "10") { $0.product = 2 }
    story.report(.upgraded, "2026-03-16", until: "2027-03-16", price: "90") {
      ($0.product, $0.previousProduct) = (3, 1)
    }
    story.report(.canceled, "2026-03-17", until: "2027-03-16") { $0.product = 1 }
    let facts = try story.facts(asOf: "2026-05-10") { $0.basePlans = plans }
    #expect(facts.mrr(.transferOut, product: 2) == "10.00")
    #expect(facts.mrr(.transferIn, product: 3) == "7.50" && facts.count(.churned) == 0)
  }
}
