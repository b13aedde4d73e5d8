import Reconciliation
import Testing
import Domain

@Suite("A missing charge is for the product held at its time")
struct ProductHeldTests {
  private let yearly = "com.example.yearly"

  /// A monthly subscription changed to the yearly product on 20 January, without money.
  private func changed(_ kind: EventKind) -> Story {
    var story = Story.monthly(renewals: 0)
    story.report(kind, "2026-01-20", until: "2026-02-01", product: Story.yearly) {
      $0.previousProduct = Story.monthly
    }
    return story
  }

  private func expect(
    _ scenario: Scenario, _ code: String, _ product: String, worth dollars: Int64?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(scenario.codes == [code], sourceLocation: sourceLocation)
    #expect(scenario.breaks.map(\.product) == [product], sourceLocation: sourceLocation)
    #expect(
      scenario.breaks.map(\.estimatedUSD) == [dollars.map { Amount(micros: $0 * 1_000_000) }],
      sourceLocation: sourceLocation)
  }

  @Test("A missing renewal after an announced change is for the new product, listed or counted")
  func announced() {
    var story = changed(.downgraded)
    story.report(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 5, count: 2,
      product: Story.yearly)
    var scenario = Scenario(story, shown: nil, at: "2026-03-20")
    expect(scenario, "MISSED_RENEWAL", yearly, worth: 5)
    scenario.entitlements = [
      premium(
        until: "2026-04-01", product: "unmapped", listing: monthlyTransactions(renewals: 2))
    ]
    expect(scenario, "MISSED_RENEWAL", yearly, worth: 5)
  }

  @Test("A missing renewal proven by an end is for the new product without a product map")
  func proven() {
    let scenario = Scenario(
      changed(.downgraded), shown: premium(until: "2026-03-01", product: "unmapped"),
      at: "2026-02-20")
    expect(scenario, "MISSED_RENEWAL", yearly, worth: nil)
  }

  @Test("A charge listed without base plan is for the plan that the subscription has")
  func withoutBasePlan() {
    var story = Story.monthly(renewals: 3, without: [2])
    for index in story.events.indices { story.events[index].product = 4 }
    let listed = monthlyTransactions(renewals: 3).map { sold in
      var sold = sold
      sold.product = "pro"
      return sold
    }
    let scenario = Scenario(
      story, shown: premium(until: "2026-05-01", product: "pro", listing: listed), at: "2026-04-20")
    expect(scenario, "MISSED_RENEWAL", "pro:base", worth: 10)
  }

  @Test("Both missing charges after a lost change are for the product that it began")
  func afterLostChange() {
    var story = Story.monthly(renewals: 1)
    story.report(
      .renewed, "2026-04-10", until: "2026-05-10", transaction: 104, price: 20,
      product: Story.yearly)
    let listed =
      monthlyTransactions(renewals: 1) + [
        bought(102, .renewed, "2026-02-10", until: "2026-03-10"),
        bought(103, .renewed, "2026-03-10", until: "2026-04-10"),
        bought(104, .renewed, "2026-04-10", until: "2026-05-10"),
      ]
    let scenario = Scenario(
      story, shown: premium(until: "2026-05-10", product: "unmapped", listing: listed),
      at: "2026-04-20")
    #expect(scenario.codes == ["MISSED_RENEWAL", "MISSED_RENEWAL"])
    #expect(scenario.breaks.map(\.product) == [yearly, yearly])
  }

  @Test("The old product of a change has the only base plan with which it is sold")
  func oldProductOfChange() {
    var story = Story()
    story.report(.downgraded, "2026-02-10", until: "2026-03-01", transaction: 101) {
      ($0.previousProduct, $0.product, $0.periodStart) = (5, Story.yearly, at("2026-02-01"))
    }
    story.report(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10, count: 2,
      product: Story.yearly)
    for index in story.events.indices { story.events[index].store = .playStore }
    let scenario = Scenario(story, shown: nil, at: "2026-03-20") {
      var words = StringTable()
      for word in Story.words { _ = words.symbol(word) }
      $0.basePlans = BasePlans(in: words)
    }
    #expect(Set(scenario.breaks.map(\.product)) == ["pro:base"], "\(scenario.breaks)")
  }

  @Test("Purple's product change applies from its own time")
  func atOnce() {
    var story = changed(.upgraded)
    story.events[1].transaction = 101
    story.report(
      .renewed, "2026-03-20", until: "2026-04-20", transaction: 103, price: 20,
      product: Story.yearly)
    let listed = [
      bought(100, .started, "2026-01-01", until: "2026-01-20"),
      bought(101, .started, "2026-01-20", until: "2026-02-20"),
      bought(102, .renewed, "2026-02-20", until: "2026-03-20"),
      bought(103, .renewed, "2026-03-20", until: "2026-04-20"),
    ]
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-20", product: "", listing: listed), at: "2026-04-01",
      provider: .purple)
    expect(scenario, "MISSED_RENEWAL", yearly, worth: 20)
  }

  @Test("Before an announced change, a missing charge has the length of the old product")
  func lengthBeforeChange() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(.downgraded, "2026-02-05", transaction: 101) {
      ($0.previousProduct, $0.product) = (Story.monthly, 3)
    }
    story.report(
      .renewed, "2026-03-01", until: "2026-03-08", transaction: 102, price: 3, product: 3)
    let scenario = Scenario(story, shown: nil, at: "2026-03-05", provider: .purple) {
      $0.fold.periods = [Story.monthly: .months(1), 3: .days(7)]
      $0.lengths = ["com.example.monthly": .months(1), "com.example.weekly": .days(7)]
    }
    #expect(scenario.breaks.map(\.missingEvents) == [1], "\(scenario.breaks)")
  }

  @Test("A missing start is for the product that the next charge or change names")
  func start() {
    var story = Story.monthly(renewals: 1, without: [0], counted: false)
    story.report(
      .upgraded, "2026-02-10", until: "2027-02-10", transaction: 102, price: 90,
      product: Story.yearly)
    var upgraded = Scenario(
      story, shown: premium(until: "2027-02-10", product: "unmapped", started: "2026-01-01"),
      at: "2026-02-20")
    expect(upgraded, "MISSED_START", "com.example.monthly", worth: 10)
    upgraded.stories[0].events.removeFirst()
    expect(upgraded, "MISSED_START", "com.example.yearly", worth: nil)
    upgraded.stories[0].events[0].previousProduct = Story.monthly
    expect(upgraded, "MISSED_START", "com.example.monthly", worth: nil)
    var announced = changed(.downgraded)
    announced.events.removeFirst()
    announced.report(
      .renewed, "2026-02-01", until: "2026-03-01", transaction: 101, price: 5,
      product: Story.yearly)
    let listed = Scenario(
      announced,
      shown: premium(
        until: "2026-03-01", product: "unmapped", listing: monthlyTransactions(renewals: 1)),
      at: "2026-02-20")
    expect(listed, "MISSED_START", "com.example.monthly", worth: nil)
  }

  @Test("An event about the charge itself decides its product before other charges do")
  func named() {
    var story = Story()
    story.reportEnd(canceled: "2026-02-04", until: "2026-02-10")
    story.report(
      .started, "2026-03-15", until: "2027-03-15", transaction: 101, price: 90,
      product: Story.yearly)
    let listed = [
      bought(100, .started, "2026-02-03", until: "2026-02-10"),
      bought(101, .renewed, "2026-03-15", until: "2027-03-15"),
    ]
    let scenario = Scenario(
      story, shown: premium(until: "2027-03-15", product: "unmapped", listing: listed),
      at: "2026-03-20")
    expect(scenario, "MISSED_START", "com.example.monthly", worth: nil)
  }

  @Test("A conversion proven only by later renewals is for the product that they name")
  func conversion() {
    var story = Story.trial
    story.report(.renewed, "2026-02-08", until: "2026-03-08", transaction: 102, price: 10, count: 1)
    story.report(
      .upgraded, "2026-02-10", until: "2027-02-10", transaction: 103, price: 90,
      product: Story.yearly)
    let scenario = Scenario(story, shown: nil, at: "2026-02-20")
    expect(scenario, "MISSED_CONVERSION", "com.example.monthly", worth: 10)
  }

  @Test("A listed charge within the period before it is of the product that followed")
  func withinPeriod() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(
      .renewed, "2026-02-20", until: "2027-02-20", transaction: 102, price: 60,
      product: Story.yearly)
    func scenario(_ time: String) -> Scenario {
      let lost = bought(101, .renewed, time, until: "2026-02-20")
      let listed =
        [monthlyTransactions(renewals: 0)[0], lost]
        + [bought(102, .renewed, "2026-02-20", until: "2027-02-20")]
      return Scenario(
        story, shown: premium(until: "2027-02-20", product: "yearly", listing: listed),
        at: "2026-03-20", change: allMapped)
    }
    expect(scenario("2026-01-20"), "MISSED_RENEWAL", yearly, worth: 60)
    expect(scenario("2026-02-01"), "MISSED_RENEWAL", "com.example.monthly", worth: 10)
  }

  @Test("A product that a listed purchase names is the store's, and needs no map")
  func purchased() {
    var bought = bought(100, .unknown, "2026-01-01", until: "2026-02-01")
    func codes(_ shown: String) -> [String] {
      Scenario(
        .monthly(renewals: 0),
        shown: premium(until: "2026-02-01", product: shown, listing: [bought]), at: "2026-01-20"
      ).codes
    }
    #expect(codes(yearly) == [])
    bought.product = yearly
    #expect(codes(yearly) == ["MISSED_PRODUCT_CHANGE"])
    bought.product = "com.example.monthly"
    #expect(codes("com.example.monthly") == [])
  }

  @Test("A listed charge that begins inside the period of another one changed the product")
  func upgradeAfterLoss() {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", transaction: 100, price: 10)
    story.report(
      .renewed, "2026-03-11", until: "2026-04-11", transaction: 103, price: 15,
      product: Story.yearly)
    let listed = [
      bought(100, .started, "2026-01-01", until: "2026-02-01"),
      bought(101, .renewed, "2026-02-01", until: "2026-03-01"),
      bought(102, .unknown, "2026-02-11", until: "2026-03-11"),
      bought(103, .renewed, "2026-03-11", until: "2026-04-11"),
    ]
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-11", product: "yearly", listing: listed),
      at: "2026-03-20", change: allMapped)
    let products = scenario.breaks.reduce(into: [:]) { $0[$1.transaction] = $1.product }
    #expect(products == ["101": "com.example.monthly", "102": yearly])
  }

  @Test("Of a product's ids in several stores, a missing charge has the one that its store sells")
  func severalStores() {
    func products(_ sold: [(store: Store, product: String)]) -> [String] {
      Scenario(
        .monthly(renewals: 0),
        shown: premium(
          until: "2027-01-20", product: "year",
          listing: [
            bought(100, .started, "2026-01-01", until: "2026-01-20"),
            bought(101, .renewed, "2026-01-20", until: "2027-01-20"),
          ]), at: "2026-01-25", asOf: "2026-02-10"
      ) { rules in
        rules.products = ["year": [self.yearly, "sub:yearly"]]
        rules.sold = Set(
          sold.map {
            SoldProduct(provider: .qonversion, app: "app", store: $0.store, product: $0.product)
          })
      }.breaks.map(\.product)
    }
    #expect(products([(.appStore, yearly), (.playStore, "sub:yearly")]) == [yearly])
    #expect(products([(.playStore, "sub:yearly")]) == [yearly])
    #expect(products([(.macAppStore, yearly), (.playStore, "sub:yearly")]) == [yearly])
    #expect(products([]) == ["com.example.monthly"])
  }
}
