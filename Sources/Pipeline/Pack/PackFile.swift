import Formats
import Foundation

/// The file of a pack while it is written: beside its place, and gone when it is not finished.
final class PackFile {
  private let path: String
  private let aside: AtomicFile

  /// Makes the file under a temporary name; a pack contains user ids, so only its owner can read
  /// it.
  init(_ path: String) throws(SubledgerError) {
    self.path = path
    try Self.requireRoom(for: path)
    guard let aside = AtomicFile(for: path) else {
      throw SubledgerError(
        .cannotCreate, "cannot write the pack \(path): cannot make \(path).part: \(Self.cause)",
        hint: errno == EEXIST
          ? "another pack writes it, or one that died has left it: remove it then"
          : "check that its folder exists and that you may write there")
    }
    self.aside = aside
  }

  /// Refuses a place that is taken, whatever was named by a slip.
  static func requireRoom(for path: String) throws(SubledgerError) {
    var state = stat()
    guard lstat(path, &state) == 0 else { return }
    let isFolder = state.st_mode & S_IFMT == S_IFDIR
    throw SubledgerError(
      .cannotCreate, "cannot write the pack \(path): it \(isFolder ? "is a folder" : "exists")",
      hint: isFolder
        ? "give the name of a file in it"
        : "a pack takes the place of no file: give another name, or remove it first")
  }

  /// Adds bytes to its end.
  func write(_ bytes: UnsafeRawBufferPointer) throws(SubledgerError) {
    guard aside.file.write(bytes) else { throw failure() }
  }

  /// Gives the file its name, once it is on the disk.
  func publish() throws(SubledgerError) {
    switch aside.publish() {
    case nil: return
    case .sync, .syncFolder: throw failure()
    case .name:
      throw SubledgerError(
        .cannotCreate, "cannot name the pack \(path): \(Self.cause)",
        hint: "check what is there, and that you may write to its folder")
    }
  }

  private func failure() -> SubledgerError {
    SubledgerError(
      .inputOutput, "cannot write the pack \(path): \(Self.cause)",
      hint: "make room on its disk, or give a file elsewhere")
  }

  private static var cause: String { String(cString: strerror(errno)) }
}
