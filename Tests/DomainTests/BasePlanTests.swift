import Testing
import Domain

@Suite("Base plans of Play's products")
struct BasePlanTests {
  @Test(
    "An id with a base plan gives its product",
    arguments: [
      ("pro:monthly", "pro"), ("pro:a:b", "pro"), ("pro", nil), (":monthly", nil), ("pro:", nil),
      ("", nil),
    ] as [(String, String?)])
  func product(id: String, product: String?) { #expect(id.withoutBasePlan == product) }

  @Test("A product matches each of its base plans; a base plan can appear alone")
  func names() {
    var texts = StringTable()
    let symbols = ["pro:yearly", "pro", "pro:monthly", "plus:monthly", "coins"].map {
      texts.symbol($0)
    }
    let plans = BasePlans(in: texts)
    #expect(plans.names(of: "pro") == ["pro:monthly", "pro:yearly", "pro"])
    #expect(plans.names(of: "pro:monthly") == ["pro:monthly", "pro"])
    #expect(plans.names(of: "pro:weekly") == ["pro:weekly", "pro"])
    #expect(plans.names(of: "plus") == ["plus:monthly"])
    #expect(plans.names(of: "plus:monthly") == ["plus:monthly"])
    #expect(plans.names(of: "coins") == ["coins"] && plans.names(of: "new") == ["new"])
    #expect(plans.products == [symbols[0]: symbols[1], symbols[2]: symbols[1]])
  }
}
