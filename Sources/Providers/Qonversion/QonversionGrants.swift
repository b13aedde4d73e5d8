import Formats
import Domain

/// Reads from the `entitlements` of a body until when they grant what it is about.
struct QonversionGrants {
  private var grant = Members<QonversionGrantField>()

  /// The end of the entitlement that the product change in `body` granted, as far as can be told.
  ///
  /// What was granted by hand is no part of what was paid. Of the others, active ones go before
  /// those that are not, then those of the product, though entitlements often name it otherwise,
  /// then those from the same shop; the latest end of what is left counts. They merely help to find
  /// a period's end, so odd ones are passed over.
  mutating func end(
    among list: JSONNode, for body: QonversionBody, _ tape: JSONTape
  ) -> Instant? {
    var best: (fitness: Int, end: Instant)?
    let isObject = tape.kind(list) == .object
    for node in tape.children(of: list) {
      grant.read(isObject ? tape.value(ofKey: node) : node, of: tape)
      let source = try? tape.term(grant.value(.source), "entitlements.source")
      guard source != "manual",
        let end = try? tape.instant(grant.value(.expires), "entitlements.expires")
      else { continue }
      let found = (fitness: fitness(source: source ?? "", for: body, tape), end: end)
      best = best.map { $0 < found ? found : $0 } ?? found
    }
    return best?.end
  }

  private func fitness(source: String, for body: QonversionBody, _ tape: JSONTape) -> Int {
    let isActive = try? tape.truth(grant.value(.isActive), "entitlements.active")
    let product = grant.value(.product).flatMap { sent in
      tape.kind(sent) == .object ? tape.member(sent, "product_id") : nil
    }
    let isOfProduct = product.map { tape.bytes($0).isEqual(to: body.product) } ?? false
    let store = Store(snapshotSource: source)
    return (isActive == true ? 4 : 0) + (isOfProduct ? 2 : 0)
      + (store != .unknown && store == body.store ? 1 : 0)
  }
}
