import Domain
import EventStore
import Testing

@testable import Pipeline
@testable import Reconciliation

@Suite("A decision follows the loss that it was made about")
struct DecidedBreaksTests {
  private let ids = (0..<10).map {
    BreakIDs(BreakCode.charges, BreakSubject(provider: .qonversion, original: "100"))
      .id(of: .charge($0))
  }

  /// A break of missing charges, from this number on.
  private func found(_ number: Int, missing: Int64 = 1) -> Break {
    var found = Break(id: ids[number], code: .missedRenewal, provider: .qonversion)
    (found.subscription, found.missingEvents) = ("100", missing)
    return found
  }

  private func decided(
    about previous: Break, _ current: [Break]
  ) throws -> (about: [String], unused: [String]) {
    let decision = Decision(breakID: previous.id, verdict: .writtenOff, reason: "r", who: "w")
    let decided = try DecidedBreaks(current, [decision]) { $0 == previous.id ? previous : nil }
    return (decided.decisions.map(\.breakID), decided.unused)
  }

  @Test("Of breaks with one id the last counts, and breaks are sorted by id")
  func lastOfEachID() {
    var breaks = [found(2), found(1, missing: 5), found(0), found(1, missing: 7)]
    breaks.sortKeepingLastOfEachID()
    #expect(breaks == [found(0), found(1, missing: 7), found(2)].sorted { $0.id < $1.id })
  }

  @Test("A decision about several charges applies to those left after the first arrived")
  func severalCharges() throws {
    for left in [4, 5] {
      let decided = try decided(about: found(3, missing: 3), [found(left)])
      #expect(decided.about == [ids[left]] && decided.unused == [])
    }
  }

  @Test("A decision does not apply to another loss of the subscription")
  func otherLoss() throws {
    let pairs = [
      (found(3), found(4)), (found(3, missing: 3), found(6)), (found(3, missing: 2), found(2)),
    ]
    for (previous, current) in pairs {
      #expect(try decided(about: previous, [current]).unused == [ids[3]])
    }
    let both = try decided(about: found(3, missing: 2), [found(3), found(4)])
    #expect(both.about == [ids[3]])
  }
}
