// Files of the earlier set that are known to come out alike: they need not be made again.
internal import Digest
internal import Glibc

extension Staging {
  /// Puts files of the published set into this one under a second name, and gives the paths of
  /// those that arrived.
  ///
  /// - Parameters:
  ///   - checksums: the `SHA256SUMS` of the set that is known to be published; a file with other
  ///     bytes is left out.
  ///   - isWanted: whether the set that is being made has the file of this path alike.
  public func carry(
    publishedAs checksums: [UInt8], where isWanted: (String) -> Bool
  ) throws(PublishError) -> Set<String> {
    let sums = Checksums(reading: checksums)
    var carried: Set<String> = []
    for path in sums.paths where isWanted(path) {
      let (old, new) = ("\(out)/\(path)", "\(self.path)/\(path)")
      guard try entryType(old) == .file else { continue }
      let seal = try seal(of: old)
      guard seal.sha256 == sums.hashes[path] else { continue }
      try makeFolders(parent(of: new))
      // Where links are refused, the file is made again.
      guard link(old, new) == 0 else { continue }
      carried.insert(path)
      carriedSeals[path] = seal
    }
    return carried
  }

  /// The manifest of the published set, when it is the one that `checksums` names.
  public func publishedManifest(
    publishedAs checksums: [UInt8]
  ) throws(PublishError) -> [UInt8]? {
    let path = "\(out)/\(manifestName)"
    guard try entryType(path) == .file, let document = try readFile(path),
      Checksums(reading: checksums).hashes[manifestName] == sha256(of: document)
    else { return nil }
    return document
  }
}
