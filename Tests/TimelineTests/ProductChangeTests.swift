import Testing
import Vocabulary

@testable import Timeline

@Suite struct ProductChangeTests {
  /// Monthly for $10 from March on, upgraded for $20 on the 16th; nothing tells until when.
  private func upgraded() -> Story {
    var story = Story()
    story.tell(.started, "2026-03-01", until: "2026-04-01", price: "10")
    story.tell(.upgraded, "2026-03-16", until: "2026-03-16", price: "20") {
      $0.product = Story.yearly
      $0.previousProduct = Story.monthly
    }
    return story
  }

  @Test("The own time of another product change tells no end of an upgrade")
  func ownTimeOfAnotherChange() throws {
    var story = upgraded()
    story.tell(.productChanged, "2026-03-16T00:00:01", until: "2026-03-16T00:00:01") {
      $0.product = Story.yearly
    }
    let life = try Life(events: story.events, rules: Rules(asOf: at("2026-05-10")))
    #expect(life.findings.map(\.code) == [.expiryMismatch] && life.state?.silentEnd == nil)
    let facts = try story.facts(asOf: "2026-05-10")
    #expect(facts.count(.churned) == 0 && facts.mrr(.transferIn) == "10.00")
  }

  @Test("Of an upgrade and a downgrade behind it, the next renewal tells the end")
  func renewalTellsEnd() throws {
    var story = upgraded()
    story.tell(.downgraded, "2026-03-20", until: "2026-03-20") {
      $0.previousProduct = Story.yearly
    }
    story.tell(.renewed, "2026-04-16", until: "2026-05-16", price: "10")
    let facts = try story.facts(asOf: "2026-05-10")
    #expect(facts.count(.churned) == 0 && facts.count(.reactivated) == 0)
    #expect(facts.mrr(.transferIn, product: Story.yearly) == "20.00")
  }

  @Test("A product change that sends another time than its own tells the end of an upgrade")
  func changeWithEnd() throws {
    var story = upgraded()
    story.tell(.downgraded, "2026-03-20", until: "2026-04-16")
    let facts = try story.facts(asOf: "2026-05-10")
    #expect(facts.days(.churned) == ["2026-04-16"])
  }

  @Test("A life of which only a change of product came ends at no known time")
  func changeAlone() throws {
    var story = Story()
    story.tell(.downgraded, "2026-03-20", until: "2026-03-20")
    let life = try Life(events: story.events, rules: Rules(asOf: at("2026-05-10")))
    #expect(life.state?.periodEnd == nil)
  }
}
