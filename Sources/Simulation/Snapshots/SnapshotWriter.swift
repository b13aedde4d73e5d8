import Domain

/// Writes what everybody owns at the end of the scenario: once per shape of Qonversion, and once
/// for each other provider.
struct SnapshotWriter {
  private let span: TimeSpan
  /// When the snapshots of SDKs were true.
  private let staleTime: Int64
  private let shapes: [SnapshotShape]
  /// By the name of the shape or the provider.
  private var files: [String: GzipFile] = [:]

  init(_ folder: String, _ scenario: Scenario, _ span: TimeSpan) throws(SubledgerError) {
    self.span = span
    staleTime = span.end - Int64(scenario.staleDays) * day
    shapes = scenario.senders.contains(.qonversion) ? SnapshotShape.allCases : []
    let others = scenario.senders.filter { $0 != .qonversion }.map(\.name)
    for name in shapes.map(\.rawValue) + others {
      let day = civilDay(of: span.end).text
      files[name] = try GzipFile(path: "\(folder)/\(name)/\(day).jsonl.gz")
    }
  }

  /// Adds the user of a customer as in the records of the customer's provider.
  mutating func add(_ customer: CustomerSimulation) throws(SubledgerError) {
    let provider = customer.person.shop.provider
    guard provider == .qonversion else {
      guard let line = customer.otherSnapshot(span) else { return }
      try files[provider.name]?.add(line)
      return
    }
    let holders = customer.holders(at: span.end)
    let isStale = staleTime < span.end
    let stale = isStale ? customer.known(at: staleTime).holders(at: staleTime) : holders
    for shape in shapes {
      for holder in shape.isOfSDK ? stale : holders where shape.shows(holder) {
        try files[shape.rawValue]?.add(shape.line(of: holder, at: span.end))
      }
    }
  }

  func finish() throws(SubledgerError) {
    for file in files.values { try file.finish() }
  }
}

// What a user owns, as the other providers' interfaces answer it, with user and time added.

extension CustomerSimulation {
  /// The line of this customer; nil when the provider does not know a user.
  func otherSnapshot(_ span: TimeSpan) -> JSON? {
    guard !occurrences.isEmpty else { return nil }
    switch person.shop.provider {
    case .qonversion: return nil
    case .flobuk: return flobukSnapshot(at: span.end)
    case .iaptic:
      // `GET /v2/customers/{applicationUsername}/purchases`.
      return [
        "applicationUsername": .text(person.accountName), "captured_at": .date(span.end),
        "purchases": iapticPurchases(at: span.end, span),
      ]
    case .purple: return purpleSnapshot(at: span.end)
    }
  }

  /// `GET /v1/user/{appid}/{userid}`: the newest subscription and what does not wear off.
  private func flobukSnapshot(at time: Int64) -> JSON? {
    guard occurrences.contains(where: namesFlobukUser) else { return nil }
    let states = flobukParts.map { flobukState($0, at: time).json(of: person) }
    return [
      "user": .text(person.accountName), "app_id": .text(person.shop.appID),
      "captured_at": .int(time), "purchases": .array(states.map { ["data": $0] }),
    ]
  }

  private var flobukParts: [OccurrencePart] {
    var parts: [OccurrencePart] = []
    let isSubscriber = occurrences.contains { !$0.isOfPurchase }
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

  /// Purple publishes no interface: a list that the team keeps, in the form that any provider's
  /// entitlements can be brought into.
  private func purpleSnapshot(at time: Int64) -> JSON? {
    guard var holder = holders(at: time).first else { return nil }
    holder.user = person.purpleUser
    holder.holdings.removeAll { $0.origin != .purchase }
    return SnapshotShape.canonical.line(of: holder, at: time)
  }
}
