import EventStore
import Domain
import Reports
import Providers

extension PublishPass {
  /// Returns the settings of the previous publication that `run` lacks, as text for the log; nil if
  /// there are none.
  ///
  /// A command without the options of the nightly job publishes other numbers.
  func lostSettings(since run: Int64) throws -> String? {
    guard let previous = try ledger.publication(before: run)?.run else { return nil }
    let changed = try ledger.changedOptions(from: previous, to: run)
    let settings: [(isUnset: Bool, option: EffectiveOption, name: String)] = [
      (plan.prices == nil, .pricesSHA256, "a price book"),
      (plan.decisions.sha256 == nil, .decisions, "decisions"),
      (plan.reports.isEmpty, .reports, "custom reports"),
      (plan.products.isEmpty, .products, "products"),
      (plan.periods.isEmpty, .periods, "periods"),
      (plan.reading.eventNames.isEmpty, .eventNames, "names of events"),
    ]
    let lost = settings.filter { $0.isUnset && changed.contains($0.option.rawValue) }.map(\.name)
    guard !lost.isEmpty else { return nil }
    return "the previous run was given \(lost.joined(separator: ", ")), but this one was not: if "
      + "that is a mistake, publish with --config, --prices, --decisions and --reports-dir of the "
      + "nightly job"
  }

  /// Returns warnings about the unknown names in the new archives of a run.
  func unknownNames(ofRun run: Int64) throws -> [String] {
    let names = try ledger.unknownNames(ofRun: run)
    guard !names.isEmpty else { return [] }
    let events = names.filter {
      $0.subject == .eventName && $0.provider.capabilities.renamesEvents
        && $0.name != UnknownName.withheld
    }
    // Event names first, because they affect numbers.
    let others = names.filter { item in !events.contains { $0 == item } }
    let shown = (events + others).map { item in
      "\(item.provider.name) \(item.subject.rawValue) \"\(item.name)\" "
        + "(\(counted(item.lines, "line")))"
    }
    var text = "Unknown names in the input, listed in unknown_input.csv: \(Self.list(shown))"
    if !events.isEmpty {
      text += """
        . These events count as other: a renamed cancel, for example, leaves churn without a \
        reason. Add each with its kind, such as renewed or canceled, to the configuration, and \
        rebuild the ledger: \
        event_names: {\(Self.list(events.map { "\"\($0.name)\": KIND" }))}
        """
    }
    return [text]
  }

  /// Returns the first few of `items`, and how many more there are.
  private static func list(_ items: [String]) -> String {
    let more = items.count > 5 ? ", and \(items.count - 5) more" : ""
    return items.prefix(5).joined(separator: ", ") + more
  }
}
