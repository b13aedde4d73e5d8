// SHA256SUMS in the format of coreutils, which `sha256sum --check` reads.
internal import Domain
internal import Formats
internal import Glibc

let checksumsName = "SHA256SUMS"

/// The file that describes the others of a set.
public let manifestName = "datapackage.json"

let packageName = "subledger-reports"

/// The files of a set that are not reports.
public let documentPaths = [manifestName, checksumsName]

/// The hashes of a set's files, by path.
struct Checksums {
  var hashes: [String: String]

  init(hashes: [String: String]) { self.hashes = hashes }

  /// The checksums of the set published in `folder`; empty without a set.
  ///
  /// Other programs write checksum files as well. Ours names our manifest; from it, only the
  /// documents and the reports, which are files and folders, count.
  init(publishedIn folder: String) throws(SubledgerError) {
    self.init(reading: try readFile("\(folder)/\(checksumsName)") ?? [])
    let names = Set(reportPaths + documentPaths)
    guard hashes[manifestName] != nil, try isManifest("\(folder)/\(manifestName)") else {
      hashes = [:]
      return
    }
    for path in paths where !names.contains(path) && !names.contains(parent(of: path)) {
      hashes[path] = nil
    }
  }

  /// Parses a checksum file, except paths out of the folder, which subledger never writes.
  init(reading bytes: [UInt8]) {
    hashes = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.count > 66 {
      let hash = String(decoding: line.prefix(64), as: UTF8.self)
      let path = String(decoding: line.dropFirst(66), as: UTF8.self)
      let parts = path.split(separator: "/", omittingEmptySubsequences: false)
      let isInside = !parts.contains { $0.isEmpty || $0 == "." || $0 == ".." }
      if isInside, hash.utf8.allSatisfy({ 48...57 ~= $0 || 97...102 ~= $0 }) { hashes[path] = hash }
    }
  }

  /// The paths, sorted by bytes.
  var paths: [String] {
    hashes.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// The file's text: one line per file, sorted by path.
  var document: [UInt8] {
    Array(paths.map { "\(hashes[$0] ?? "")  \($0)\n" }.joined().utf8)
  }
}

/// The paths of the files that differ between two sets, compared by their `SHA256SUMS`.
public func differingFiles(_ one: [UInt8], _ other: [UInt8]) -> [String] {
  let (left, right) = (Checksums(reading: one), Checksums(reading: other))
  return Checksums(hashes: left.hashes.merging(right.hashes) { here, _ in here }).paths.filter {
    left.hashes[$0] != right.hashes[$0]
  }
}

/// Whether the file begins like a manifest of subledger; the manifest may be newer than the
/// checksums, and lists its inputs last.
private func isManifest(_ path: String) throws(SubledgerError) -> Bool {
  guard try isFile(path) else { return false }
  guard let file = FilePieces(of: path, flags: O_NOFOLLOW), let start = file.next() else {
    throw .system("read", path)
  }
  return withExtendedLifetime(file) {
    String(decoding: start.prefix(1 << 10), as: UTF8.self)
      .contains("\n  \"name\": \"\(packageName)\",")
  }
}

/// Reads a file once for its size and hash.
func seal(of path: String) throws(SubledgerError) -> FileSeal {
  let digest = SHA256Digest()
  var bytes: Int64 = 0
  try forEachPiece(of: path) { piece throws(SubledgerError) in
    digest.update(piece)
    bytes += Int64(piece.count)
  }
  return FileSeal(bytes: bytes, sha256: digest.finish())
}

/// Whether each file of `folder` still has its hash; files older than `trusted` are not read.
func areWhole(
  _ hashes: [String: String], in folder: String, olderThan trusted: stat?, _ each: ForEachPath
) throws(SubledgerError) -> Bool {
  do {
    var paths: [String] = []
    for path in hashes.keys.sorted() {
      let file = try status(of: "\(folder)/\(path)")
      if let trusted, let file, trusted.isNewer(than: file) { continue }
      paths.append(path)
    }
    try each(paths) { path throws(SubledgerError) in
      let place = "\(folder)/\(path)"
      guard try seal(of: place).sha256 == hashes[path] else {
        throw SubledgerError.notAsPublished(place, line: 1)
      }
    }
    return true
  } catch {
    guard error.kind == .damagedInput else { throw error }
    return false
  }
}
