import Domain

extension Entitlement {
  /// The entitlement with ids as `provider`'s events have them, so that both sides meet.
  ///
  /// Events of iaptic lose the platform before an id; those of all three stand under the base
  /// order of a Play renewal.
  func inEventTerms(of provider: Provider) -> Entitlement {
    guard provider != .qonversion else { return self }
    var right = self
    if provider == .iaptic { right.product = plainID(product) }
    right.transactions = transactions.map { sent in
      var sale = sent
      if provider == .iaptic {
        sale.id = plainID(sent.id)
        sale.originalID = plainID(sent.originalID)
        sale.product = plainID(sent.product)
      }
      let base = baseOrder(sale.originalID.isEmpty ? sale.id : sale.originalID)
      if base != sale.id || !sale.originalID.isEmpty { sale.originalID = base }
      return sale
    }
    return right
  }
}

private func plainID(_ id: String) -> String {
  var id = id
  return id.withUTF8 { text(IapticID(UnsafeRawBufferPointer($0)).text) }
}

private func baseOrder(_ id: String) -> String {
  var id = id
  return id.withUTF8 { text(baseOrder(UnsafeRawBufferPointer($0))) }
}
