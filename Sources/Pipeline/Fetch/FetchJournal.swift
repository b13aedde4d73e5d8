import Domain
import Formats
import Glibc
import Providers
import Reports

/// The answers of one pass, each written before the next request about its user.
///
/// It is a hidden file in the folder of snapshots, which an import ignores. Each user has one line:
/// the status, the user and the app as JSON strings, and the snapshot lines or the reason,
/// separated by tabs. Before it there may be lines with status 100, each an answer that needed
/// further requests. A completed pass turns it into `snapshots-PROVIDER-INSTANT.jsonl.gz` and, for
/// users without a snapshot, `…-failed.csv`.
final class FetchJournal {
  private static let failedEnd = "-failed.csv"
  /// The age from which answers are old, so that users are asked again.
  private static let agesAfter = Interval.hours(20)
  /// The age from which answers about one user no longer belong together.
  private static let partsAgeAfter = Interval.hours(1)

  /// Whether a file is named like fetched snapshots, which are complete from the start.
  static func isFetched(_ name: String) -> Bool {
    name.hasSuffix(".jsonl.gz") && isOfPass(name)
  }

  /// Whether a file is named like a pass's list of users without a snapshot.
  static func isList(_ name: String) -> Bool {
    name.hasSuffix(failedEnd) && isOfPass(name)
  }

  private static func isOfPass(_ name: String) -> Bool {
    let last = name.split(separator: "/").last ?? ""
    return Provider.allCases.contains { last.hasPrefix("snapshots-\($0.name)-") }
  }

  private let folder: String
  private let path: String
  /// The file names without suffix.
  private let name: String
  private let provider: Provider
  private let file: OpenFile
  private let seed = UInt64.random(in: 0 ... .max)
  private var asked: Set<Int64> = []
  /// Partial answers about users whose requests were interrupted.
  private var parts: [Int64: [FetchedPart]] = [:]

  /// Number of users with an answer.
  var count: Int { asked.count }

  /// Opens the journal of `provider` that a pass left in `folder`, or starts one at `now`.
  ///
  /// Answers that are too old are first published as a file. The caller holds a lock on the folder.
  static func open(
    in folder: String, of provider: Provider, at now: Instant
  ) throws -> FetchJournal {
    let begin = "snapshots-\(provider.name)-"
    var moment = now
    guard let names = RawPath(folder).names() else {
      throw SubledgerError.system("list \(folder)", cause: errno)
    }
    let left = names.map(\.shown).filter {
      $0.hasPrefix(".\(begin)") && $0.hasSuffix(".journal")
    }
    if let name = left.max().map({ String($0.dropFirst().dropLast(".journal".count)) }) {
      let journal = try FetchJournal(in: folder, name, provider)
      let begun = captureTime(fileName: name, in: .utc) ?? now
      if now.since(begun) < agesAfter { return journal }
      _ = try journal.finish([])
    }
    while true {
      let time = moment.text.prefix(19).map { $0 == ":" ? "-" : $0 }
      let name = begin + time + "Z"
      guard access("\(folder)/\(name).jsonl.gz", F_OK) == 0 else {
        return try FetchJournal(in: folder, name, provider)
      }
      moment = moment + .seconds(1)
    }
  }

  private init(in folder: String, _ name: String, _ provider: Provider) throws {
    self.folder = folder
    self.name = name
    self.provider = provider
    path = "\(folder)/.\(name).journal"
    guard let file = OpenFile(path, O_RDWR | O_CREAT | O_APPEND, rights: 0o600) else {
      throw SubledgerError.system(
        "write a file in \(folder)", .cannotCreate, cause: errno, at: "the folder")
    }
    self.file = file
    var whole = 0
    var isWhole = true
    try forEachEntry { fields in
      isWhole = isWhole && fields.count >= 4
      guard isWhole else { return }
      let key = key(fields[1], fields[2])
      if fields.isPart {
        guard let part = FetchedPart(fields) else {
          isWhole = false
          return
        }
        // Answers of another time were requested again.
        if parts[key]?.first?.capturedAt != part.capturedAt { parts[key] = [] }
        parts[key]?.append(part)
      } else {
        asked.insert(key)
        parts[key] = nil
      }
      whole += fields.reduce(fields.count) { $0 + $1.count }
    }
    // A killed process may leave half a line, a crashed machine other bytes.
    guard truncate(path, whole) == 0 else {
      throw SubledgerError.system("write \(path)", cause: errno)
    }
  }

  func holds(_ user: FetchedUser) -> Bool { asked.contains(key(user)) }

  /// The answers about `user` before the interruption, in order; none when they are too old at
  /// `now` to be completed.
  func parts(of user: FetchedUser, at now: Instant) -> [FetchedPart] {
    guard !parts.isEmpty, let parts = parts[key(user)], let first = parts.first,
      now.since(first.capturedAt) < Self.partsAgeAfter
    else { return [] }
    return parts
  }

  /// Stores an answer about `user` that needs further requests.
  func add(_ part: FetchedPart, of user: FetchedUser) throws {
    try write(FetchedPart.status, user, part.fields)
  }

  func add(_ lines: [[UInt8]], of user: FetchedUser) throws { try write(200, user, lines) }

  /// Stores that the provider does not have this user.
  func add(_ failed: FailedUser) throws {
    try write(failed.status ?? 0, failed.user, [Array(failed.reason.utf8)])
  }

  private func write(_ status: Int, _ user: FetchedUser, _ rest: [[UInt8]]) throws {
    let fields = [Array(String(status).utf8), json(user.id), json(user.app)] + rest
    let entry = fields.joined(separator: [UInt8(ascii: "\t")]) + [UInt8(ascii: "\n")]
    let isPart = status == FetchedPart.status
    // After a crash of the process every line is kept; after one of the machine, the last few are
    // lost.
    guard entry.withUnsafeBytes(file.write),
      isPart || !asked.count.isMultiple(of: 500) || file.sync()
    else {
      throw SubledgerError.system("write the answers in \(folder)", cause: errno, at: "the folder")
    }
    if !isPart { asked.insert(key(user)) }
  }

  /// Creates the files of the stored answers and of `failed`, the users who were given up.
  ///
  /// Returns the paths of the snapshots and of the list of users without one, nil for an empty
  /// file, and the number of users in that list.
  func finish(
    _ failed: [FailedUser]
  ) throws -> (snapshots: String?, failed: String?, failures: Int) {
    var (hasLines, failures) = (false, failed.count)
    try forEachEntry { fields in
      if fields.isSnapshot { hasLines = true } else if !fields.isPart { failures += 1 }
    }
    let snapshots = hasLines ? try publish("\(name).jsonl.gz", pack) : nil
    let listed =
      failures > 0 ? try publish(name + Self.failedEnd) { try list(failed, in: $0) } : nil
    guard unlink(path) == 0 else {
      throw SubledgerError.system("remove \(path)", cause: errno, at: "the folder")
    }
    return (snapshots, listed, failures)
  }

  private func pack(into file: OpenFile) throws -> Bool {
    let packer = GzipPacker()
    var isWritten = true
    func put(_ bytes: UnsafeRawBufferPointer) { isWritten = isWritten && file.write(bytes) }
    try forEachEntry { fields in
      guard fields.isSnapshot else { return }
      for line in fields[3...] {
        packer.add(line, put)
        [UInt8(ascii: "\n")].withUnsafeBytes { packer.add($0, put) }
      }
    }
    packer.finish(put)
    return isWritten
  }

  private func list(_ failed: [FailedUser], in file: OpenFile) throws -> Bool {
    var isWritten = true
    func put(_ cells: [CSVCell]) {
      let line = csvLine(cells) + [UInt8(ascii: "\n")]
      isWritten = isWritten && line.withUnsafeBytes(file.write)
    }
    put(["provider", "app_id", "user_id", "status", "reason"].map(CSVCell.plain))
    try forEachEntry { fields in
      guard !fields.isSnapshot, !fields.isPart else { return }
      let user = FetchedUser(id: text(fields[1]), app: text(fields[2]))
      let status = Int(String(decoding: fields[0], as: UTF8.self))
      let reason = String(decoding: fields[3], as: UTF8.self)
      put(FailedUser(user: user, status: status, reason: reason).row(of: provider))
    }
    for user in failed { put(user.row(of: provider)) }
    return isWritten
  }

  /// Writes a file under a hidden name, and renames it when it is on the disk.
  private func publish(_ name: String, _ write: (OpenFile) throws -> Bool) throws -> String {
    let (path, part) = ("\(folder)/\(name)", "\(folder)/.\(name).part")
    guard let file = OpenFile(part, O_WRONLY | O_CREAT | O_TRUNC, rights: 0o600),
      try write(file), file.sync(), rename(part, path) == 0,
      OpenFile(folder, O_RDONLY)?.sync() ?? (errno == EACCES)
    else {
      throw SubledgerError.system("write \(path)", .cannotCreate, cause: errno, at: "the folder")
    }
    return path
  }

  /// Calls `body` with the fields of every complete line.
  private func forEachEntry(_ body: ([UnsafeRawBufferPointer]) -> Void) throws {
    let isRead = FilePieces(of: path)?.forEachLine { line in
      body(
        line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map {
          UnsafeRawBufferPointer(rebasing: $0)
        })
    }
    guard isRead == true else { throw SubledgerError.system("read \(path)", cause: errno) }
  }

  private func key(_ user: FetchedUser) -> Int64 {
    json(user.id).withUnsafeBytes { id in json(user.app).withUnsafeBytes { key(id, $0) } }
  }

  private func key(_ id: UnsafeRawBufferPointer, _ app: UnsafeRawBufferPointer) -> Int64 {
    var key = Fingerprint(seed: seed)
    key.combine(id)
    key.combine(app)
    return key.value
  }
}

extension [UnsafeRawBufferPointer] {
  /// Whether the fields of a journal line belong to a user with a snapshot.
  var isSnapshot: Bool { self[0].elementsEqual("200".utf8) }
  /// Whether they are an answer that needed further requests.
  var isPart: Bool { self[0].elementsEqual("\(FetchedPart.status)".utf8) }
}

private func json(_ text: String) -> [UInt8] { JSONValue.string(text).line }

private func text(_ json: UnsafeRawBufferPointer) -> String {
  var tape = JSONTape()
  return (try? tape.read(json, from: 0)) == nil ? "" : tape.string(0)
}

extension FailedUser {
  /// The cells of the user's row in the list.
  func row(of provider: Provider) -> [CSVCell] {
    [
      .plain(provider.name), .text(user.app), .text(user.id),
      status.map { .integer(Int64($0)) } ?? .plain(""), .text(reason),
    ]
  }
}

extension FetchedPart {
  /// The fields of its line after the user and the app.
  var fields: [[UInt8]] {
    let time = String(capturedAt.milliseconds)
    return [Array(record.rawValue.utf8), Array(time.utf8), next.map(json) ?? [], list]
  }

  /// The answer of a line; nil when `fields` did not write it.
  init?(_ fields: [UnsafeRawBufferPointer]) {
    guard fields.count == 7,
      let record = FetchRequest.Record(rawValue: String(decoding: fields[3], as: UTF8.self)),
      let time = Int64(String(decoding: fields[4], as: UTF8.self))
    else { return nil }
    self.init(
      capturedAt: Instant(milliseconds: time), record: record, list: Array(fields[6]),
      next: fields[5].isEmpty ? nil : text(fields[5]))
  }
}
