import Domain

/// Writes what happened and what became of it: one JSON line per event.
struct TruthEvents {
  private let file: GzipFile

  init(path: String) throws(SubledgerError) { file = try GzipFile(path: path) }

  func add(
    _ customer: CustomerSimulation, _ deliveries: [Delivery], span: TimeSpan
  ) throws(SubledgerError) {
    let evidence = Evidence(customer: customer, outcomes: deliveries.map(\.outcome), span: span)
    for (index, delivery) in deliveries.enumerated() {
      let shown = delivery.outcome == .lost ? evidence.names(of: index) : nil
      let fault =
        delivery.isOfAbsentDay ? "absent_day" : customer.occurrences[index].fault?.rawValue
      let outcome: [(String, JSON?)] = [
        ("outcome", .text(delivery.outcome.rawValue)),
        ("copies", .int(delivery.arrivals.count)),
        ("received_ms", .array(delivery.arrivals.map { .int($0.received) })),
        ("evidence", shown.map { .array($0.map { .text($0) }) }),
        ("fault", fault.map { .text($0) }),
        ("code", customer.code(of: customer.occurrences[index]).map { .text($0.rawValue) }),
      ]
      try file.add(
        .object(
          identity(index, of: customer, span) + shop(customer.occurrences[index], customer.person)
            + money(customer.occurrences[index]) + outcome))
    }
  }

  func finish() throws(SubledgerError) { try file.finish() }

  private func identity(
    _ index: Int, of customer: CustomerSimulation, _ span: TimeSpan
  ) -> [(String, JSON?)] {
    let occurrence = customer.occurrences[index]
    let person = customer.person
    let provider = person.shop.provider == .qonversion ? nil : person.shop.provider.name
    return [
      ("id", .text((provider.map { "\($0)-" } ?? "") + "\(person.number)-\(index)")),
      ("provider", provider.map { .text($0) }),
      ("kind", .text(customer.kindName(of: occurrence))),
      ("name", .text(customer.sentName(of: occurrence))),
      ("user_id", .text(customer.sentUser(at: index))),
      ("lineage", .text(customer.lineage(of: occurrence, span))),
      ("transaction", .text(person.text(occurrence.transaction))),
      ("time", .int(occurrence.time)),
    ]
  }

  private func shop(_ occurrence: Occurrence, _ person: Person) -> [(String, JSON?)] {
    [
      ("environment", .text(person.environment.name)),
      ("app", .text(person.shop.appID)),
      ("store", .text(person.shop.reportedStore.name)),
      ("product", .text(person.app.storeProducts[occurrence.product])),
      ("country", .text(person.market.country)),
      ("currency", .text(person.market.currency)),
    ]
  }

  private func money(_ occurrence: Occurrence) -> [(String, JSON?)] {
    let revenue = occurrence.revenue
    let isCharge = occurrence.isSubscriptionCharge || occurrence.kind == .purchased
    return [
      ("gross_usd", revenue != nil && isCharge ? .micros(occurrence.price.usd) : nil),
      ("value", revenue.map { .micros($0.local) }),
      ("usd", revenue.map { .micros($0.usd) }),
      ("is_proceed", revenue.map { _ in .int(occurrence.sendsProceeds ? 1 : 0) }),
      ("ordinal", occurrence.renewCount.map { .int($0) }),
    ]
  }
}

// What an event is called, and by which ids it can be found in ledger and reports.

extension CustomerSimulation {
  /// Our own name of a kind; other lines have names of their own.
  func kindName(of occurrence: Occurrence) -> String {
    guard occurrence.kind == .other else { return occurrence.kind.name }
    switch person.shop.provider {
    case .qonversion: return "trial_still_active"
    case .iaptic: return isIapticTest(occurrence) ? "skipped" : "observed"
    case .flobuk, .purple: return "skipped"
    }
  }

  func sentName(of occurrence: Occurrence) -> String {
    switch person.shop.provider {
    case .qonversion: qonversionName(occurrence.kind)
    case .flobuk: "state"
    case .iaptic where isIapticTest(occurrence): "test"
    case .iaptic where person.shop.isOriginalIaptic: "purchases.updated"
    case .iaptic: iapticReason(occurrence, person)
    case .purple: purpleName(occurrence.kind)
    }
  }

  /// The user as the line names it; empty when it does not.
  func sentUser(at index: Int) -> String {
    switch person.shop.provider {
    case .qonversion: person.qonversionUser(account: account(at: index))
    case .flobuk: namesFlobukUser(occurrences[index]) ? person.accountName : ""
    case .iaptic: person.accountName
    case .purple: person.purpleUser
    }
  }

  /// The parts of the ledger's lineage key.
  func lineage(of occurrence: Occurrence, _ span: TimeSpan) -> String {
    let isPlay = person.shop.store == .playStore
    let namesOriginal =
      switch person.shop.provider {
      case .qonversion, .iaptic: true
      case .flobuk: isPlay
      case .purple: isPlay || sendsOriginal(occurrence, in: span)
      }
    return person.text(namesOriginal ? occurrence.transaction.original : occurrence.transaction)
  }
}
