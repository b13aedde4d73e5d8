import Foundation

/// The file of a pack while it is written: beside its place, and gone when it is not finished.
final class PackFile {
  private let path: String
  private let aside: String
  private let descriptor: Int32

  /// Makes the file aside; a pack names users, so only its owner may read it.
  init(_ path: String) throws(NightError) {
    self.path = path
    aside = path + ".part"
    try Self.requireRoom(for: path)
    let descriptor = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw NightError(
        .cannotCreate, "cannot write the pack \(path): cannot make \(aside): \(Self.cause)",
        hint: errno == EEXIST
          ? "another pack writes it, or one that died has left it: remove it then"
          : "check that its folder exists and that you may write there")
    }
    self.descriptor = descriptor
  }

  /// Refuses a place that is taken, whatever was named by a slip.
  static func requireRoom(for path: String) throws(NightError) {
    var state = stat()
    guard lstat(path, &state) == 0 else { return }
    let isFolder = state.st_mode & S_IFMT == S_IFDIR
    throw NightError(
      .cannotCreate, "cannot write the pack \(path): it \(isFolder ? "is a folder" : "exists")",
      hint: isFolder
        ? "give the name of a file in it"
        : "a pack takes the place of no file: give another name, or remove it first")
  }

  deinit {
    close(descriptor)
    unlink(aside)
  }

  /// Adds bytes to its end.
  func write(_ bytes: UnsafeRawBufferPointer) throws(NightError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest)
      let count = Foundation.write(descriptor, piece.baseAddress, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure() }
      rest = rest.dropFirst(count)
    }
  }

  /// Gives the file its name, once it is on the disk.
  func publish() throws(NightError) {
    guard fsync(descriptor) == 0 else { throw failure() }
    // A link never takes the place of a file, as a new name would.
    guard link(aside, path) == 0 else {
      throw NightError(
        .cannotCreate, "cannot name the pack \(path): \(Self.cause)",
        hint: "check what is there, and that you may write to its folder")
    }
    let folder = open(
      URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    defer { close(folder) }
    // Some filesystems cannot sync a folder and say so; there is nothing more to do then.
    guard folder < 0 || fsync(folder) == 0 || errno == EINVAL else { throw failure() }
  }

  private func failure() -> NightError {
    NightError(
      .inputOutput, "cannot write the pack \(path): \(Self.cause)",
      hint: "make room on its disk, or give a file elsewhere")
  }

  private static var cause: String { String(cString: strerror(errno)) }
}
