import Formats
import EventStore

extension RunPipeline {
  /// Takes the SHA-256 of every archive that is still there, and holds it to the ledger's.
  ///
  /// An archive is looked for where it was found, and under its name in the plan's archives and
  /// snapshots. One that is gone is named, for archives may be kept elsewhere.
  func proveArchives(
    _ path: String, _ order: VerifyOrder, isWhole: Bool
  ) throws(SubledgerError) -> Verification.Check {
    var check = Verification.Check("archives", unit: "files")
    let listed = try told(by: path, isWhole: isWhole) { ledger throws(LedgerError) in
      try ledger.archives()
    }
    guard let known = listed else { return check.skipped("the ledger cannot be read") }
    let given = try namedFiles()
    // The same bytes can have come under other names, and one of these can still exist.
    let copies = Dictionary(grouping: known, by: \.sha256)
    let files = known.map { archive in
      let others = copies[archive.sha256, default: []].map(\.path).filter { $0 != archive.path }
      return FileToProve(
        archive: archive, paths: [archive.path] + (given[archive.name].map { [$0] } ?? []),
        copies: others)
    }
    let shas = Set(known.map(\.sha256))
    var gone: [String] = []
    try attempt {
      try Workers(count: plan.jobs).run(files, { file, tell in _ = tell(file.look(shas)) }) {
        index, whereabouts in
        try checkStop()
        check.count += 1
        let name = files[index].archive.name
        switch whereabouts {
        case .same: break
        case .gone: gone.append(name)
        case .other(let path):
          check.fail(.damaged, "\(name): \(path) holds other bytes than those that were read")
        case .unreadable(let reason): check.fail(.damaged, "\(name): \(reason)")
        }
      }
    }
    if !gone.isEmpty {
      let names = gone.prefix(20).joined(separator: ", ") + (gone.count > 20 ? ", …" : "")
      let note = "\(gone.count) not there any more: \(names)"
      if order.isStrict { check.fail(.damaged, note) } else { check.notes.append(note) }
    }
    return check
  }

  /// The files under the plan's paths, by the name that the ledger has for them.
  func namedFiles() throws(SubledgerError) -> [String: String] {
    let paths = plan.archives + plan.snapshots
    guard !paths.isEmpty else { return [:] }
    let listing = try attempt { try ArchiveFolder.files(under: paths) }
    return Dictionary(listing.files.map { ($0.name, $0.path) }) { first, _ in first }
  }
}

extension ArchiveRecord {
  /// Whether `file` begins with the bytes that were read.
  func begins(_ file: ArchiveFile) throws(ArchiveError) -> Bool {
    guard file.bytes > bytes else { return false }
    return try Formats.sha256(of: file, first: bytes) == sha256
  }
}

/// An archive and the places where its bytes may be.
private struct FileToProve: Sendable {
  let archive: ArchiveRecord
  let paths: [String]
  /// Where the same bytes came under other names.
  let copies: [String]

  enum LocationText: Sendable {
    case same
    case gone
    case other(String)
    case unreadable(String)
  }

  /// A file that has grown, or came whole later, holds the bytes that were read; another archive
  /// with the same name is not damage either.
  func look(_ known: Set<String>) -> LocationText {
    var found = LocationText.gone
    for path in paths {
      do throws(ArchiveError) {
        guard let file = try ArchiveFolder.file(at: path) else { continue }
        let sum = try sha256(of: file)
        if sum == archive.sha256 { return .same }
        if try archive.begins(file) { return .same }
        if !known.contains(sum) { found = .other(path) }
      } catch {
        found = .unreadable(error.description)
      }
    }
    if case .gone = found, copies.contains(where: hasBytes) { return .same }
    return found
  }

  private func hasBytes(_ path: String) -> Bool {
    guard let file = try? ArchiveFolder.file(at: path) else { return false }
    return (try? sha256(of: file)) == archive.sha256
  }
}
