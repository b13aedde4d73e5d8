import Subscriptions
import Domain

/// The content that disappears with a line of states, which other lines may repeat.
struct StateLoss {
  /// The break for the loss; nil when other lines contain the same, or several charges are lost.
  let code: BreakCode?
  /// Key of the lost charge's transaction; 0 when it has none.
  let transaction: Int64

  init(of damage: Damage, among events: [Event], _ rules: FoldSettings) throws {
    let gone = Set(([damage.candidate.event] + damage.companions).map(\.identity))
    let before = try Self.charges(events, rules)
    let after = try Self.charges(events.filter { !gone.contains($0.identity) }, rules)
    let lost = before.filter { after[$0.key] == nil }
    code = lost.count == 1 ? lost.first?.value : nil
    transaction = lost.first?.key.transaction ?? 0
  }

  private struct Paid: Hashable {
    var product: StringID
    var transaction: Int64
    /// The end of the period, if there are no transaction ids.
    var end: Instant?
  }

  /// Returns the break that the loss of each charge and trial is, by its transaction or, without
  /// transaction ids, by its end.
  private static func charges(
    _ events: [Event], _ rules: FoldSettings
  ) throws -> [Paid: BreakCode] {
    let states = try histories(of: events, rules: rules).compactMap(\.state)
    var codes: [Paid: BreakCode] = [:]
    for state in states {
      for charge in state.charges {
        let end = charge.transaction == 0 ? charge.periodEnd : nil
        let paid = Paid(product: charge.product, transaction: charge.transaction, end: end)
        codes[paid] = charge.kind.codeWhenMissed
      }
      for trial in state.trials {
        let end = trial.transaction == 0 ? trial.end : nil
        codes[Paid(product: trial.product, transaction: trial.transaction, end: end)] = .missedStart
      }
    }
    return codes
  }
}

extension Event {
  /// Whether no later line repeats this one.
  var sendsSingleEvents: Bool { provider.capabilities.body == .event }
}
