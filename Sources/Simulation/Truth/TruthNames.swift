import Domain

// What an event is called, and by which ids it can be found in ledger and reports.

extension Life {
  /// Our own word for what is told; lines that are no purchase events go by their own.
  func kindText(of happening: Happening) -> String {
    guard happening.kind == .other else { return happening.kind.name }
    switch person.shop.provider {
    case .qonversion: return "trial_still_active"
    case .iaptic: return isIapticTest(happening) ? "skipped" : "observed"
    case .flobuk, .purple: return "skipped"
    }
  }

  /// The provider's own word.
  func nameText(of happening: Happening) -> String {
    switch person.shop.provider {
    case .qonversion: "\(qonversionName(happening.kind))"
    case .flobuk: "state"
    case .iaptic:
      isIapticTest(happening)
        ? "test"
        : person.shop.isOriginalIaptic ? "purchases.updated" : iapticReason(happening, person)
    case .purple: purpleName(happening.kind)
    }
  }

  /// The user as the line names it; empty when it does not.
  func userText(at index: Int) -> String {
    switch person.shop.provider {
    case .qonversion: person.userText(account: account(at: index))
    case .flobuk: namesFlobukUser(happenings[index]) ? person.accountName : ""
    case .iaptic: person.accountName
    case .purple: person.purpleUser
    }
  }

  /// What the ledger's lineage is made of.
  func lineageText(of happening: Happening, _ span: Span) -> String {
    let own = person.text(happening.transaction)
    let original = person.text(happening.transaction.original)
    switch person.shop.provider {
    case .qonversion, .iaptic: return original
    case .flobuk: return person.shop.store == .playStore ? original : own
    case .purple:
      let names = sendsOriginal(happening, in: span) || person.shop.store == .playStore
      return names ? original : own
    }
  }
}
