internal import Glibc

/// A new file that is readable only by its owner while it is written next to its final path, and
/// deleted if it is not finished.
///
/// A call that fails sets `errno`.
public final class AtomicFile {
  /// The temporary path: the final path with the suffix `.part`.
  public let path: String
  /// The open file.
  public let file: OpenFile
  private let place: String

  /// Creates the temporary file for reading and writing; nil also if it already exists.
  public init?(for place: String, rights: UInt32 = 0o600) {
    self.place = place
    path = place + ".part"
    guard let file = OpenFile(path, O_RDWR | O_CREAT | O_EXCL, rights: rights) else { return nil }
    self.file = file
  }

  deinit { keepingError { unlink(path) } }

  /// Syncs the file, gives it its final path, and syncs the folder.
  ///
  /// Returns false if it fails, and then nothing at that path has changed.
  public func publish() -> Bool {
    // A link, unlike a rename, never replaces an existing file.
    guard file.sync(), link(path, place) == 0 else { return false }
    if syncFolder() { return true }
    keepingError { unlink(place) }
    return false
  }

  /// The same, replacing an existing file.
  public func replace() -> Bool { file.sync() && rename(path, place) == 0 && syncFolder() }

  private func syncFolder() -> Bool {
    let slash = place.lastIndex(of: "/")
    let folder = slash.map { $0 == place.startIndex ? "/" : String(place[..<$0]) } ?? "."
    // A folder that may not be read cannot be synced here; the system does it later.
    guard let open = OpenFile(folder, O_RDONLY) else { return errno == EACCES }
    return open.sync()
  }
}
