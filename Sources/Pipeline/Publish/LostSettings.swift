import EventStore
import Reports

extension PublishPass {
  /// Settings of the previous publication that `run` lacks, as text for the log; nil without any.
  ///
  /// A command that is called without the options of the nightly job publishes other numbers.
  func lostSettings(since run: Int64) throws -> String? {
    let changed = try ledger.publication(before: run).map {
      try ledger.changedOptions(from: $0, to: run)
    }
    guard let changed else { return nil }
    let lost = plan.unset.filter { changed.contains($0.option.rawValue) }.map(\.name)
    guard !lost.isEmpty else { return nil }
    return "the run before was given \(lost.joined(separator: ", ")), and this one was not: if "
      + "that is not meant, publish with --config, --prices, --decisions and --reports-dir of the "
      + "nightly job"
  }
}

extension Plan {
  /// What numbers can follow and this plan does not have.
  var unset: [(option: EffectiveOption, name: String)] {
    var unset: [(EffectiveOption, String)] = []
    if prices == nil { unset.append((.pricesSHA256, "a price book")) }
    if decisions.sha256 == nil { unset.append((.decisions, "decisions")) }
    if configuration.reports.isEmpty { unset.append((.reports, "reports of your own")) }
    if configuration.products.isEmpty { unset.append((.products, "products")) }
    if configuration.periods.isEmpty { unset.append((.periods, "periods")) }
    if configuration.eventNames.isEmpty { unset.append((.eventNames, "names of events")) }
    return unset
  }
}
