import Domain
import EventStore
import Formats
import Foundation
import Logging
import Reports

extension RunPipeline {
  /// Writes everything that an auditor of `month` needs into one file, from the ledger alone.
  ///
  /// That is the set as the last run published it, the documents that it followed, the chain of all
  /// runs and, of a closed month, the frozen reports. The same ledger and program give the same
  /// bytes.
  public func pack(month: String, into file: String) throws {
    let period = try Month(typed: month)
    try requireLedger(to: "pack")
    try requireFreePath(forPack: file)
    let room = try PrivateFolder()
    let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
      .copied(to: room.path("ledger.sqlite"), stop: stop)
    try ledger.requireSealed()
    let run = try newestPublication(of: ledger, else: "there is nothing to pack").run
    let history = try history(of: run.id, in: ledger)
    let rules = history.plan.rules
    let close = try ledger.closes(zone: rules.calendar.identifier, knownTo: .max)[period]
    if close == nil {
      try requireEnd(of: period, by: rules)
      try requireRows(of: period, rules.calendar.identifier, run, in: ledger)
      for zone in try zones(closing: period, in: ledger) {
        log.warning(
          """
          \(period.text) is closed in \(zone), the set of run \(run.id) is in \
          \(rules.calendar.identifier): the pack does not contain the close. Publish with \
          --timezone \(zone) first, then pack
          """, metadata: ["code": "closed_elsewhere", "month": "\(period.text)"])
      }
    }
    let folder = room.path("pack")
    var shadow = plan
    shadow.ledger = ledger.path
    shadow.out = "\(folder)/reports"
    shadow.hasExplicitAsOf = false
    shadow.isDryRun = false
    _ = try following(shadow, silently: true).report(atRun: run.id)
    let isSame = try inspectSet(in: shadow.out).sha256 == run.published
    let actions = Set(try ledger.actions(since: run.id))
    let isFollowed = history.documents.decisions.map { $0.contentSHA256 == $0.sha256 } ?? true
    guard isSame || actions.isDisjoint(with: [.retract, .readmit]) else {
      throw SubledgerError(
        .tryAgain, "lines that run \(run.id) counted were retracted since",
        hint: "publish again with the options of the nightly job, then pack")
    }
    guard isFollowed && (isSame || !actions.contains(.erase)) else {
      throw SubledgerError(
        .tryAgain, "run \(run.id) named a person who was erased since",
        hint: "publish again with the options of the nightly job, then pack")
    }
    guard isSame else {
      throw SubledgerError(
        .identity, "version \(version) does not reproduce the published set of run \(run.id)",
        hint: "pack it with version \(run.version), or publish it again first")
    }
    try write(history, period, close, try ledger.chain(), into: folder)
    if let close { try write(close, try ledger.acts(), period, from: ledger, into: folder) }
    try sealFolder(folder)
    try writePack(to: file, time: run.asOf) { tar in
      for name in try inspectSet(in: folder).paths + ["SHA256SUMS"] {
        try tar.add("\(folder)/\(name)", as: "\(PackManifest.folder(of: period.text))/\(name)")
      }
    }
  }

  /// Throws unless the month has ended at the set's as-of, or was closed.
  private func requireEnd(of month: Month, by rules: FoldSettings) throws {
    guard rules.calendar.start(of: Month(number: month.number + 1)) <= rules.asOf else {
      throw SubledgerError(
        .usage, "\(month.text) has not ended at \(rules.asOf.text), the as-of of the last set",
        hint: "choose an earlier month, or publish a set with a later --as-of")
    }
  }

  /// Throws when no report has a row of the month: it is a typing error.
  private func requireRows(
    of month: Month, _ zone: String, _ run: RunRow, in ledger: Ledger
  ) throws {
    let states = try ledger.monthStates()
    guard !states.contains(where: { $0.zone == zone && $0.month == month && $0.rows > 0 }) else {
      return
    }
    throw SubledgerError(
      .usage, "cannot pack \(month.text): no report of run \(run.id) has a row of it",
      hint: "`subledger status` lists the months that there are")
  }

  private func write(
    _ history: RunHistory, _ period: Month, _ close: MonthClose?, _ chain: [ChainLink],
    into folder: String
  ) throws {
    let run = history.row
    let manifest = PackManifest(
      period: period.text, run: run.id, asOf: run.asOf.text, version: run.version,
      record: chain.last { $0.run == run.id }?.record ?? "", published: run.published ?? "",
      close: close.map { .init(act: $0.act, run: $0.run, asOf: $0.asOf.text) })
    try save(try packedJSON(manifest), as: "pack.json", in: folder)
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

  /// Writes the reports that a close froze, and all audit entries, which the chain seals together.
  private func write(
    _ close: MonthClose, _ acts: [AuditEntry], _ month: Month, from ledger: Ledger,
    into folder: String
  ) throws {
    try save(try packedJSON(acts), as: "closed/acts.json", in: folder)
    for report in try ledger.closedReports(act: close.act) {
      guard let path = FrozenMonth.path(of: report.report, month),
        let csv = try FrozenMonth.csv(of: report, month, from: ledger)
      else {
        throw SubledgerError(
          .tryAgain,
          "cannot pack \(month.text): this version prints rows of \(report.report) that differ "
            + "from the closed ones",
          hint: "pack it with the version that closed it; `subledger status` names it")
      }
      try save(csv, as: "closed/\(path)", in: folder)
    }
  }

  private func save(_ bytes: [UInt8], as name: String, in folder: String) throws {
    let url = URL(fileURLWithPath: "\(folder)/\(name)")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
  }

  private static let readme = """
    The evidence for one month, from the ledger of subledger.

    reports/     the report set that the run in pack.json published: every CSV, datapackage.json
                 with the inputs and their SHA-256, breaks, restatements, and SHA256SUMS of them
    closed/      if the month is closed: the rows that the close froze, report by report, which are
                 the numbers in the books. acts.json lists who closed and reopened months, and why.
                 restatements.csv in reports/ bridges these numbers to the current ones
    documents/   the configuration (without secrets and paths), the price book and the decisions
                 about breaks that the run used
    chain.txt    every run of the ledger up to this one: its facts and its record, which is the
                 SHA-256 of those lines and includes the previous record
    pack.json    period, run, as-of, version, the run's record, and the close: its act and run
    SHA256SUMS   SHA-256 of all of the above

    `sha256sum --check SHA256SUMS` checks the files. `subledger verify --pack FILE` checks the
    files, the reports, the documents, the chain and the close, and needs nothing but the pack.

    """
}

/// `pack.json`: the run whose set is packed, and the close of the month.
struct PackManifest: Codable {
  struct Close: Codable {
    let act: Int64
    let run: Int64
    let asOf: String
  }

  let period: String
  let run: Int64
  let asOf: String
  let version: String
  let record: String
  let published: String
  let close: Close?

  /// The folder in the pack of a month.
  static func folder(of period: String) -> String { "subledger-\(period)" }
}

/// Encodes the JSON of a pack: equal values give equal bytes.
private func packedJSON(_ value: some Encodable) throws -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
  encoder.keyEncodingStrategy = .convertToSnakeCase
  return [UInt8](try encoder.encode(value)) + [UInt8(ascii: "\n")]
}

/// Decodes the JSON of a pack; nil when it has another form than `pack` writes.
func unpackedJSON<Value: Decodable>(_ type: Value.Type, at path: String) -> Value? {
  let decoder = JSONDecoder()
  decoder.keyDecodingStrategy = .convertFromSnakeCase
  return FileManager.default.contents(atPath: path).flatMap { try? decoder.decode(type, from: $0) }
}

/// Writes a pack under a temporary name in the same folder, and renames it once it is on disk; an
/// unfinished pack leaves nothing.
///
/// Only its owner can read it, because it contains users' ids.
func writePack(to path: String, time: Instant, _ fill: (TarWriter) throws -> Void) throws {
  try requireFreePath(forPack: path)
  func failure(_ kind: SubledgerError.Kind? = nil) -> SubledgerError {
    .system("write the pack \(path)", kind, cause: errno, at: "its folder")
  }
  guard let part = AtomicFile(for: path) else {
    guard errno == EEXIST else { throw failure(.cannotCreate) }
    throw SubledgerError(
      .cannotCreate, "cannot write the pack \(path): another one is writing \(path).part",
      hint: "if none is running, remove what a failed one left")
  }
  let tar = TarWriter(time: time.milliseconds / 1000) {
    guard part.file.write($0) else { throw failure() }
  }
  try fill(tar)
  try tar.finish()
  guard part.publish() else {
    throw failure(errno == EEXIST ? .cannotCreate : nil)
  }
}

/// Refuses an existing path, which may have been named by mistake.
func requireFreePath(forPack path: String) throws {
  var state = stat()
  guard lstat(path, &state) == 0 else { return }
  let isFolder = state.st_mode & S_IFMT == S_IFDIR
  throw SubledgerError(
    .cannotCreate, "cannot write the pack \(path): it \(isFolder ? "is a folder" : "exists")",
    hint: isFolder
      ? "give the name of a file in it"
      : "a pack overwrites no file: give another name, or remove the file")
}
