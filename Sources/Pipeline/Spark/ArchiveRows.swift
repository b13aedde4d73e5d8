import Domain
import EventStore
import Formats
import Foundation

/// A file in the driver's list.
struct ListedFile: Codable {
  var path: String
  var name: String
  var bytes: Int64
  var modified: Instant
  var inode: UInt64

  init(_ file: ArchiveFile) {
    // Stages run in other folders.
    path = file.isRemote ? file.path : URL(fileURLWithPath: file.path).path
    (name, bytes, modified, inode) = (file.name, file.bytes, file.modified, file.inode)
  }

  func file(by sources: ArchiveSources) -> ArchiveFile {
    ArchiveFile(
      listedAt: path, as: name, bytes: bytes, modified: modified, inode: inode, by: sources)
  }
}

/// Encodes the messages about one archive as rows: file, attempt, number of the row, number of the
/// event or −1, the keys that connect events, and the content.
struct ArchiveRowWriter {
  var file: Int
  /// Persons whose ids are left out.
  var erased: Set<Int64> = []
  /// Attempt of the reading; earlier attempts do not count.
  var attempt = 0
  let put: (String) throws -> Void
  private(set) var row = 0
  private(set) var events = 0

  mutating func add(_ message: ArchiveMessage) throws {
    switch message {
    case .opened(let opening): try note(.opened(opening))
    case .batch(let batch):
      try add(eventsOf: batch)
      try note(.batch(lines: batch.lines, skipped: batch.skipped, batch.rejects, batch.unknown))
    case .again:
      try note(.again)
      attempt += 1
      events = 0
    case .ended(let end): try note(.ended(end))
    case .skipped: try note(.skipped)
    case .unreadable(let error): try note(.unreadable(error))
    case .failed(let error): try note(.failed(SubledgerError(error)))
    }
  }

  mutating func add(eventsOf batch: EventBatch) throws {
    for index in batch.events.indices {
      let event = batch.events[index]
      let original = batch.text(batch.texts[index].original)
      try add(
        events,
        [
          Int64(event.provider.rawValue), event.lineage, event.user, event.identity,
          original.isEmpty ? 0 : transactionKey(original), event.transaction,
        ], batch.row(of: index, isErased: erased.contains(event.user)))
      events += 1
    }
  }

  private mutating func note(_ note: ArchiveNote) throws {
    try add(-1, [0, 0, 0, 0, 0, 0], StageCoding.field(note))
  }

  private mutating func add(_ number: Int, _ keys: [Int64], _ content: String) throws {
    let fields = [Int64(file), Int64(attempt), Int64(row), Int64(number)] + keys
    try put(fields.map(String.init).joined(separator: "\t") + "\t\(content)")
    row += 1
  }
}

/// Decodes rows of archives to the messages from which they were encoded.
struct ArchiveRowReader {
  private var batch = EventBatch()
  /// The file of the last row, and its attempt.
  private(set) var (file, attempt) = (0, 0)

  /// Returns the message that a row completes; nil if more rows of it follow.
  mutating func message(_ fields: [Substring]) throws -> ArchiveMessage? {
    guard fields.count == 5, let file = Int(fields[0]), let attempt = Int(fields[1]),
      let number = Int(fields[3])
    else { throw malformed }
    (self.file, self.attempt) = (file, attempt)
    guard number < 0 else {
      guard batch.add(row: fields[4]) else { throw malformed }
      return nil
    }
    switch try StageCoding.value(ArchiveNote.self, fields[4]) {
    case .opened(let opening): return .opened(opening)
    case .batch(let lines, let skipped, let rejects, let unknown):
      (batch.lines, batch.skipped, batch.rejects) = (lines, skipped, rejects)
      batch.unknown = unknown
      defer { batch = EventBatch() }
      return .batch(batch)
    case .again: return .again
    case .skipped: return .skipped
    case .ended(let end): return .ended(end)
    case .unreadable(let error): return .unreadable(error)
    case .failed(let error): return .failed(error)
    }
  }

  private var malformed: SubledgerError {
    SubledgerError(
      .damagedInput, "cannot read a row of the lake: this program did not write it",
      hint: "check that nothing else writes to the lake")
  }
}

extension Shard {
  /// Adds the row with this number: kind, last archive published before, archive, number and
  /// content.
  func add(_ fields: [Substring], row: Int) throws {
    guard fields.count == 5, let published = Int32(fields[1]), let archive = Int32(fields[2]),
      let number = Int32(fields[3])
    else { throw malformedRow(row, "kind, published, archive, number and content are expected") }
    switch fields[0] {
    case "user":
      guard let user = Int64(fields[4]) else { throw malformedRow(row, "no user") }
      try add(user: user)
    case "event":
      guard try add(row: fields[4], number: number, of: archive, published: published) else {
        throw malformedRow(row, "its content is not an event")
      }
    default: throw malformedRow(row, "it is neither an event nor a user")
    }
  }
}
