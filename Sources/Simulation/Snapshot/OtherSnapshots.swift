import Domain

// What a user owns at the end of the world, as the other providers' interfaces answer it, with user
// and time added.

extension Life {
  /// Appends the line of this life's user; nothing when the provider does not know one.
  func writeSnapshot(_ span: Span, into line: inout Bytes) {
    guard !happenings.isEmpty else { return }
    switch person.shop.provider {
    case .qonversion: break
    case .flobuk: writeFlobukSnapshot(at: span.end, into: &line)
    case .iaptic: writeIapticSnapshot(span, into: &line)
    case .purple: writePurpleSnapshot(at: span.end, into: &line)
    }
  }

  /// `GET /v1/user/{appid}/{userid}`: the newest subscription and what does not wear off.
  private func writeFlobukSnapshot(at time: Int64, into line: inout Bytes) {
    guard happenings.contains(where: namesFlobukUser) else { return }
    line.put("{\"user\":")
    line.put(quoted: person.accountName)
    line.put(",\"app_id\":")
    line.put(quoted: person.shop.appID)
    line.put(",\"captured_at\":")
    line.put(time)
    line.put(",\"purchases\":[")
    for (place, part) in flobukParts.enumerated() {
      line.put(place > 0 ? ",{\"data\":" : "{\"data\":")
      flobukState(part, at: time)
        .write(of: person, isNewest: person.shop.app == 0, into: &line)
      line.put("}")
    }
    line.put("]}\n")
  }

  private var flobukParts: [LifePart] {
    var parts: [LifePart] = []
    let isSubscriber = happenings.contains { !$0.isOfPurchase }
    if isSubscriber, let newest = subscriptions.indices.last {
      let period = subscriptions[newest].periods.indices.last
      parts.append(
        period.map { .period(subscription: newest, period: $0) } ?? .trial(subscription: newest))
    }
    for index in purchases.indices where !Product.all[purchases[index].product].isConsumable {
      parts.append(.purchase(index))
    }
    return parts
  }

  /// `GET /v2/customers/{applicationUsername}/purchases`.
  private func writeIapticSnapshot(_ span: Span, into line: inout Bytes) {
    line.put("{\"applicationUsername\":")
    line.put(quoted: person.accountName)
    line.put(",\"captured_at\":")
    line.put(date: span.end)
    line.put(",\"purchases\":")
    writeIapticPurchases(collection(at: span.end, span), of: person, into: &line)
    line.put("}\n")
  }

  /// Purple publishes no interface: a list that the team keeps, in the form that any provider's
  /// entitlements can be brought into.
  private func writePurpleSnapshot(at time: Int64, into line: inout Bytes) {
    guard var holder = holders(at: time).first else { return }
    holder.user = person.purpleUser
    holder.holdings.removeAll { $0.origin != .purchase }
    SDKNames.canonical.write(holder, at: time, into: &line)
  }
}
