import Foundation
import EventStore
import Reports
import Domain

extension RunPipeline {
  /// Writes everything that an auditor of `month` needs into one file, from the ledger alone: the
  /// set as the last run published it, the documents it followed, and the chain of all runs; of a
  /// closed month also what its close froze.
  ///
  /// The same ledger and program give the same bytes.
  public func pack(month: String, into file: String) throws(SubledgerError) {
    try requireLedger(to: "pack")
    try PackFile.requireRoom(for: file)
    let room = try PrivateFolder()
    defer { withExtendedLifetime(room) {} }
    let copy = room.path("ledger.sqlite")
    try attempt { try Ledger.open(path: plan.ledger, mode: .readOnly).copy(to: copy, stop: stop) }
    let ledger = try attempt { try Ledger.open(path: copy, mode: .readWrite) }
    guard let run = try attempt({ try ledger.lastPublished() }) else {
      throw SubledgerError(
        .noInput, "there is nothing to pack: no run of \(plan.ledger) has published",
        hint: "publish a set with `subledger run` first")
    }
    let history = try history(of: run.id, in: ledger)
    let rules = history.plan.rules
    let period = try Month(typed: month)
    let close = try attempt {
      try PackedClose(of: period, zone: rules.calendar.identifier, in: ledger)
    }
    if close == nil {
      try requireEnd(of: period, by: rules)
      try requireRows(of: period, rules.calendar.identifier, run, in: ledger)
    }
    let chain = try attempt { try ledger.chain() }
    let folder = room.path("pack")
    var shadow = plan
    shadow.ledger = copy
    shadow.out = "\(folder)/reports"
    shadow.saysAsOf = false
    shadow.isDryRun = false
    _ = try following(shadow, silently: true).report(atRun: run.id)
    let isSame = try attempt { try inspectSet(in: shadow.out).sha256 } == run.published
    let erased = try ledger.erasures(since: run.id)
    let isFollowed = history.documents.decisions.map { $0.contentSHA256 == $0.sha256 } ?? true
    guard isFollowed && (isSame || erased == 0) else {
      throw SubledgerError(
        .tryAgain, "run \(run.id) named a person who was erased since",
        hint: "publish anew, with the options of the nightly job, and pack then")
    }
    guard isSame else {
      throw SubledgerError(
        .identity, "version \(version) does not come to the set that run \(run.id) published",
        hint: "pack it with version \(run.version), or publish it anew first")
    }
    try attempt {
      try write(history, period, close, chain, into: folder)
      try close?.forEachFile(from: ledger) { try save($1, as: $0, in: folder) }
      try sealFolder(folder)
      try archive(folder, as: "subledger-\(period.text)", time: run.asOf, into: file)
    }
  }

  /// Only a month that has ended at the set's as-of can be handed over, unless it was closed.
  private func requireEnd(of month: Month, by rules: FoldSettings) throws(SubledgerError) {
    guard rules.calendar.start(of: Month(number: month.number + 1)) <= rules.asOf else {
      throw SubledgerError(
        .usage, "\(month.text) has not ended at \(rules.asOf.text), of which the last set speaks",
        hint: "choose an earlier month, or publish a set with a later --as-of")
    }
  }

  /// A month without rows in any report is a typing error.
  private func requireRows(
    of month: Month, _ zone: String, _ run: RunRow, in ledger: Ledger
  ) throws(SubledgerError) {
    let states = try attempt { try ledger.monthStates() }
    guard !states.contains(where: { $0.zone == zone && $0.month == month && $0.rows > 0 }) else {
      return
    }
    throw SubledgerError(
      .usage, "cannot pack \(month.text): no report of run \(run.id) has a row of it",
      hint: "`subledger status` lists the months that there are")
  }

  private func write(
    _ history: RunHistory, _ period: Month, _ close: PackedClose?, _ chain: [ChainLink],
    into folder: String
  ) throws {
    let run = history.row
    let record = chain.last { $0.run == run.id }?.record ?? ""
    let facts = JSONValue.object([
      "period": .string(period.text), "run": .integer(run.id), "as_of": .string(run.asOf.text),
      "version": .string(run.version), "record": .string(record),
      "published": .string(run.published ?? ""), "close": close?.facts ?? .null,
    ])
    try save(facts.document, as: "pack.json", in: folder)
    try save(Array(Self.readme.utf8), as: "README.txt", in: folder)
    let links = chain.map { "record \($0.record)\n\($0.text)" }.joined(separator: "\n")
    try save(Array(links.utf8), as: "chain.txt", in: folder)
    for (document, name) in [
      (history.documents.configuration, "configuration.yaml"),
      (history.documents.prices, "prices.csv"), (history.documents.decisions, "decisions.yaml"),
    ] {
      if let document { try save(document.content(), as: "documents/\(name)", in: folder) }
    }
  }

  private func save(_ bytes: [UInt8], as name: String, in folder: String) throws {
    let url = URL(fileURLWithPath: "\(folder)/\(name)")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
  }

  private func archive(
    _ folder: String, as root: String, time: Instant, into file: String
  ) throws {
    let output = try PackFile(file)
    let tar = TarWriter(time: time.milliseconds / 1000) { try output.write($0) }
    for name in try inspectSet(in: folder).paths + ["SHA256SUMS"] {
      try tar.add("\(folder)/\(name)", as: "\(root)/\(name)")
    }
    try tar.finish()
    try output.publish()
  }

  private static let readme = """
    What an auditor needs of one month, from the ledger of subledger.

    reports/     the report set as the run of pack.json published it: every CSV, datapackage.json
                 with the inputs and their SHA-256, breaks, restatements; SHA256SUMS over all of it
    closed/      of a closed month the rows that its close froze, report by report: the numbers that
                 are in the books; acts.json tells who closed and opened months, and why.
                 restatements.csv of reports/ bridges them to the numbers now
    documents/   the configuration (without secrets and paths), the price book and the decisions
                 about breaks that the run followed
    chain.txt    every run of the ledger up to then: the facts of each, and its record, which is the
                 SHA-256 of those lines and names the record before it
    pack.json    period, run, as-of, version, the run's record, and the close: its act and run
    SHA256SUMS   over everything above

    `sha256sum --check SHA256SUMS` checks the files. `subledger verify --pack FILE` checks the
    files, the reports, the documents, the chain and the close, and needs nothing but the pack.

    """
}
