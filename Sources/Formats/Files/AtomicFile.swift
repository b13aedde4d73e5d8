internal import Glibc

/// A new file for its owner alone while it is written: beside its place, and gone when it is not
/// finished.
///
/// A call that fails sets `errno`.
public final class AtomicFile {
  /// What of giving a file its name did not succeed.
  public enum Failure: Sendable {
    case sync
    case name
    case syncFolder
  }

  /// Where it is written: the place with `.part` behind it.
  public let path: String
  /// The open file.
  public let file: OpenFile
  private let place: String

  /// Makes the temporary file for reading and writing; nil also if its name exists already.
  public init?(for place: String, rights: UInt32 = 0o600) {
    self.place = place
    path = place + ".part"
    guard let file = OpenFile(path, O_RDWR | O_CREAT | O_EXCL, rights: rights) else { return nil }
    self.file = file
  }

  deinit {
    let cause = errno
    unlink(path)
    errno = cause
  }

  /// Gives the file its place, once it is on the disk, and waits until its name is there, too.
  ///
  /// Nothing stands at the place when it fails but what stood there before.
  public func publish() -> Failure? {
    guard file.sync() else { return .sync }
    // A link never takes the place of a file, as a new name would.
    guard link(path, place) == 0 else { return .name }
    guard syncFolder() else {
      let cause = errno
      unlink(place)
      errno = cause
      return .syncFolder
    }
    return nil
  }

  /// The same, in place of what stands there.
  public func replace() -> Bool { file.sync() && rename(path, place) == 0 && syncFolder() }

  private func syncFolder() -> Bool {
    let slash = place.lastIndex(of: "/")
    let folder = slash.map { $0 == place.startIndex ? "/" : String(place[..<$0]) } ?? "."
    // A folder that somebody made unreadable is left to the system.
    guard let open = OpenFile(folder, O_RDONLY) else { return errno == EACCES }
    return open.sync()
  }
}
