import Formats
import Foundation
import EventStore
import Logging
import Page
import Reports
import Domain

extension RunPipeline {
  /// Publishes the report set as the ledger was when `run` published, from the ledger alone.
  ///
  /// Options, configuration, prices and decisions are those of that run. With an explicit as-of,
  /// the set is as of that time. Without one, its bytes must be those that the run published;
  /// otherwise it throws an error of kind `identity`, and nothing is published.
  public func report(atRun run: Int64) throws -> RunResult {
    try requireLedger()
    try plan.requireOwnSet(in: try Ledger.open(path: plan.ledger, mode: .readOnly))
    return try reproduce(run)
  }

  /// Does the same, or writes into a private `folder` without a record in the ledger.
  func reproduce(_ run: Int64, into folder: String? = nil) throws -> RunResult {
    try withCopy { ledger, _ in
      let history = try self.history(of: run, in: ledger)
      let since = try ledger.actions(since: run)
      let isRetrospective = try ledger.runs(newest: .max).contains {
        $0.id < run && $0.asOf > history.row.asOf
      }
      try requireKept(history.row, in: ledger)
      try ledger.rewind(to: run)
      var plan = history.plan
      plan.metrics = nil
      if let folder { plan.out = folder }
      if self.plan.hasExplicitAsOf { plan.rules.asOf = self.plan.rules.asOf }
      return try following(plan, silently: folder != nil).publish(from: ledger) { checksums in
        let set = sha256(of: checksums)
        guard set != history.row.published else { return }
        if !self.plan.hasExplicitAsOf {
          let check = try ReproductionCheck(history, reproduced: checksums, since: since)
          try require(check, isRetrospective: isRetrospective)
        }
        guard !self.plan.isDryRun, folder == nil else { return }
        try Ledger.open(path: self.plan.ledger, mode: .readWrite).announce(set: set, in: nil)
      }
    }
  }

  /// Returns a run that published, with the plan that it followed.
  func history(of run: Int64, in ledger: Ledger) throws -> RunHistory {
    guard let row = try ledger.run(run), row.published != nil else {
      throw SubledgerError(
        .usage, "no run \(run) of the ledger \(plan.ledger) has published",
        hint: "`subledger status` lists the runs")
    }
    let documents = try ledger.documents(ofRun: run)
    var followed = try plan.following(row, documents)
    // It is repeated here, where the events are in the ledger.
    followed.engine = .embedded
    return RunHistory(row: row, documents: documents, plan: followed)
  }

  /// Refuses a reproduced set with other bytes, unless the check explains them.
  private func require(
    _ check: ReproductionCheck, isRetrospective: Bool
  ) throws {
    let (wrong, notes) = check.outcome(by: version)
    for note in notes { log.warning("\(note)") }
    guard !wrong.isEmpty else { return }
    // Texts of an earlier run about breaks that are not open at the as-of of this one.
    let texts = ["breaks_history.csv", workbookName, manifestName]
    if isRetrospective, wrong.allSatisfy({ texts.contains($0) || CustomReport.isFile($0) }) {
      return log.warning(
        """
        run \(check.run.id) was as of a time before an earlier run's, and later runs described the \
        same breaks again; these files differ: \(wrong.joined(separator: ", "))
        """)
    }
    throw SubledgerError(
      .identity,
      "cannot reproduce what run \(check.run.id) published; these files differ: "
        + wrong.joined(separator: ", "),
      hint: "keep the ledger and report this; `subledger verify` lists the damage")
  }
}

/// An earlier run with the options and documents that it followed.
struct RunHistory {
  let row: RunRow
  let documents: RunDocuments
  let plan: Plan
}

extension Plan {
  /// Returns this plan with everything that affected the numbers of `run`.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` when the run's options and documents do not
  ///   belong together.
  func following(_ run: RunRow, _ documents: RunDocuments) throws -> Plan {
    let name = "that run \(run.id) followed"
    var plan = self
    plan.configuration = Configuration()
    if let source = try documents.configuration?.content() {
      plan.configuration = try GivenSettings(source, named: "the configuration \(name)").accepted()
    }
    plan.configuration.job = configuration.job
    let recorded =
      (try? JSONDecoder().decode([String: JSONValue].self, from: Data(run.options.utf8))) ?? [:]
    func value(_ option: EffectiveOption) -> JSONValue? { recorded[option.rawValue] }
    func text(_ option: EffectiveOption) -> String {
      if case .string(let text)? = value(option) { text } else { "" }
    }
    guard let calendar = CivilCalendar(named: text(.timezone)),
      let dialect = CSVDialect(rawValue: text(.csvDialect))
    else { throw Self.contradiction(run) }
    // Of secrets, a run records only whose deliveries were authenticated, which affects reports.
    if case .array(let names)? = value(.authenticated) {
      for provider in Provider.allCases where names.contains(.string(provider.name)) {
        plan.configuration.secrets[provider] = []
      }
    }
    plan.csvDialect = dialect
    // `exact`, or a number.
    plan.amountDecimals = nil
    if case .integer(let count)? = value(.amountDecimals) { plan.amountDecimals = Int(count) }
    // Runs of versions before the page have no locale.
    plan.locale = PageLocale(rawValue: text(.locale)) ?? .en
    plan.hasWorkbook = value(.xlsx) == .bool(true)
    var rules = FoldSettings(asOf: run.asOf, calendar: calendar)
    rules.take(plan.configuration)
    plan.rules = rules
    plan.prices = nil
    if let source = try documents.prices?.content() {
      plan.prices = try PriceBookFile(
        source, named: "the price book \(name)", calendar: calendar)
    }
    plan.decisions = DecisionsFile()
    if let source = try documents.decisions?.content() {
      plan.decisions = try DecisionsFile(source, named: "the decisions \(name)")
      // By the name that the run recorded, even if a person was erased from the file since.
      plan.decisions.sha256 = documents.decisions?.sha256
    }
    // An older program can have fewer options.
    let effective = plan.effectiveOptions
    guard recorded.allSatisfy({ effective[$0.key] == $0.value }) else {
      throw Self.contradiction(run)
    }
    return plan
  }

  var optionsText: String {
    String(decoding: JSONValue.object(effectiveOptions).document(), as: UTF8.self)
  }

  private static func contradiction(_ run: RunRow) -> SubledgerError {
    SubledgerError(
      .damagedInput, "the options of run \(run.id) do not match its stored documents",
      hint: "`subledger verify` lists the damage")
  }
}
