// Files of the earlier set that are known to come out alike: they need not be made again.
internal import Formats
internal import Glibc

/// The files of the published set, as the `SHA256SUMS` says that is known to be published.
public struct PublishedFiles: Sendable {
  private let folder: String
  private let sums: Checksums

  /// The file of this path inside the set; nil unless its bytes are those that were published.
  public func file(_ path: String) throws(PublishError) -> PublishedFile? {
    let place = "\(folder)/\(path)"
    guard let hash = sums.hashes[path], try entryType(place) == .file else { return nil }
    let seal = try seal(of: place)
    return seal.sha256 == hash ? PublishedFile(path: path, place: place, seal: seal) : nil
  }

  /// The manifest of the set, when it is the one that was published.
  public func manifest() throws(PublishError) -> [UInt8]? {
    let path = "\(folder)/\(manifestName)"
    guard try entryType(path) == .file, let document = try readFile(path),
      sums.hashes[manifestName] == sha256(of: document)
    else { return nil }
    return document
  }
}

extension PublishedFiles {
  init(of staging: Staging, publishedAs checksums: [UInt8]) {
    folder = staging.out
    sums = Checksums(reading: checksums)
  }
}

/// A file whose bytes are known to be those that were published.
public struct PublishedFile: Sendable {
  /// Its path inside the set.
  public let path: String
  /// Where it lies until another set takes the place of this one.
  public let place: String
  let seal: FileSeal
}

extension Staging {
  /// The files of the set that is known to be published with these `SHA256SUMS`.
  public func published(as checksums: [UInt8]) -> PublishedFiles {
    PublishedFiles(of: self, publishedAs: checksums)
  }

  /// Puts a file of the published set into this one under a second name; false where that is
  /// refused, and the file must be made again.
  public func carry(_ file: PublishedFile) throws(PublishError) -> Bool {
    let place = "\(path)/\(file.path)"
    try makeFolders(parent(of: place))
    guard link(file.place, place) == 0 else { return false }
    carriedSeals[file.path] = file.seal
    return true
  }
}
