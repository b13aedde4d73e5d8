import Formats
import Foundation
import EventStore
import Logging
import Reports
import Domain

extension RunPipeline {
  /// Publishes the report set as the ledger knew it when `run` published, from the ledger alone.
  ///
  /// Options, configuration, prices and decisions are those of that run. With an as-of of the
  /// plan's own, the set speaks of that moment instead; else its bytes are those that the run
  /// published, or it is an error of kind `identity`, and nothing is published.
  public func report(asKnownAt run: Int64) throws(SubledgerError) -> RunResult {
    try requireLedger()
    var shadow = plan
    shadow.isDryRun = true
    return try following(shadow).withLedger { ledger throws(SubledgerError) in
      let history = try self.history(of: run, in: ledger)
      let since = try ErasuresSinceRun(run, in: ledger)
      let isLookBack = try attempt {
        try ledger.runs(newest: .max).contains { $0.id < run && $0.asOf > history.row.asOf }
      }
      try requireKept(history.row, in: ledger)
      try attempt { try ledger.rewind(to: run) }
      var told = history.plan
      told.isDryRun = plan.isDryRun
      if plan.saysAsOf { told.rules.asOf = plan.rules.asOf }
      return try following(told).publish(from: ledger, after: IntakeSummary()) {
        (checksums) throws(SubledgerError) in
        guard !plan.saysAsOf else { return }
        try compare(history, with: checksums, since, isLookBack: isLookBack)
      }
    }
  }

  /// A run that published, with the plan that it followed.
  func history(of run: Int64, in ledger: Ledger) throws(SubledgerError) -> RunHistory {
    guard let row = try attempt({ try ledger.run(run) }), row.published != nil else {
      throw SubledgerError(
        .usage, "the ledger \(plan.ledger) knows no run \(run) that has published",
        hint: "`subledger status` lists the runs")
    }
    let documents = try attempt { try ledger.documents(ofRun: run) }
    return RunHistory(row: row, documents: documents, plan: try plan.following(row, documents))
  }

  /// Holds the set of these checksums to what the run published.
  private func compare(
    _ history: RunHistory, with checksums: [UInt8], _ since: ErasuresSinceRun, isLookBack: Bool
  ) throws(SubledgerError) {
    let run = history.row
    if run.version != version {
      log.warning(
        """
        run \(run.id) was published by version \(run.version) of the program, and is told again \
        by \(version): datapackage.json names it, and reports may differ
        """)
    }
    guard sha256(of: checksums) != run.published else { return }
    let (wrong, notes) = try ReproductionCheck(
      run, history.documents, again: checksums, since: since
    ).judged(by: version)
    for note in notes { log.warning("\(note)") }
    guard !wrong.isEmpty else { return }
    // Words of a run before it, of breaks that do not stand at its as-of.
    if isLookBack, Set(wrong).isSubset(of: ["breaks_history.csv", manifestName]) {
      return log.warning(
        """
        run \(run.id) looked back behind an earlier one, and what was said then of breaks that \
        live on was said otherwise since; other bytes are in: \(wrong.joined(separator: ", "))
        """)
    }
    throw SubledgerError(
      .identity,
      "what run \(run.id) published cannot be told again; other bytes are in: "
        + wrong.joined(separator: ", "),
      hint: "keep the ledger and report this; `subledger verify` tells what does not hold")
  }
}

/// A run of the past with what it followed.
struct RunHistory {
  let row: RunRow
  let documents: RunDocuments
  let plan: Plan
}

extension Plan {
  /// This plan with all that had an effect on the numbers of `run`.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` when the run's options and documents do not
  ///   belong together.
  func following(_ run: RunRow, _ documents: RunDocuments) throws(SubledgerError) -> Plan {
    let name = "that run \(run.id) followed"
    var plan = self
    plan.configuration = Configuration()
    if let source = try documents.configuration?.content() {
      plan.configuration = try Configuration.read(source, named: "configuration \(name)")
    }
    guard let said = RunOptions(run.options),
      let calendar = CivilCalendar(named: said.timezone)
    else { throw Self.contradiction(run) }
    // Of secrets only whose deliveries were held to them is known, and has an effect on reports.
    for name in said.authenticated {
      if let provider = Provider(name: name) { plan.configuration.secrets[provider] = [] }
    }
    plan.csvDialect = said.dialect
    plan.amountDecimals = said.decimals
    var rules = FoldSettings(asOf: run.asOf, calendar: calendar)
    rules.take(plan.configuration)
    plan.rules = rules
    plan.prices = nil
    if let source = try documents.prices?.content() {
      plan.prices = try PriceBookFile.read(
        source, named: "the price book \(name)", calendar: calendar)
    }
    plan.decisions = DecisionsFile()
    if let source = try documents.decisions?.content() {
      plan.decisions = try DecisionsFile(source, named: "the decisions \(name)")
      // By the name that the run knows, also when a person was taken out of it since.
      plan.decisions.sha256 = documents.decisions?.sha256
    }
    guard plan.agrees(with: run.options) else { throw Self.contradiction(run) }
    return plan
  }

  /// The effective options as the ledger keeps them.
  var optionsText: String {
    String(decoding: JSONValue.object(effectiveOptions.byName).document, as: UTF8.self)
  }

  /// Whether the effective options are those of a run, which may be of a program with fewer.
  private func agrees(with options: String) -> Bool {
    let theirs = try? JSONDecoder().decode([String: JSONValue].self, from: Data(options.utf8))
    guard let theirs else { return false }
    let ours = effectiveOptions.byName
    return theirs.allSatisfy { ours[$0.key] == $0.value }
  }

  private static func contradiction(_ run: RunRow) -> SubledgerError {
    SubledgerError(
      .damagedInput, "the options of run \(run.id) are not what its documents come to",
      hint: "`subledger verify` tells what of the ledger does not hold")
  }
}

/// The options of a run that no document holds.
struct RunOptions: Decodable {
  let timezone: String
  let dialect: CSVDialect
  let decimals: Int?
  let authenticated: [String]

  init?(_ text: String) {
    guard let options = try? JSONDecoder().decode(RunOptions.self, from: Data(text.utf8)) else {
      return nil
    }
    self = options
  }

  init(from decoder: any Decoder) throws {
    let options = try decoder.container(keyedBy: EffectiveOption.self)
    timezone = try options.decode(String.self, forKey: .timezone)
    dialect = try options.decode(CSVDialect.self, forKey: .csvDialect)
    // `exact`, or a number.
    decimals = try? options.decode(Int.self, forKey: .amountDecimals)
    authenticated = try options.decodeIfPresent([String].self, forKey: .authenticated) ?? []
  }
}
