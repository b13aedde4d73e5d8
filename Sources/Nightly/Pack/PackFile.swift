import Foundation

/// The file of a pack while it is written: beside its place, and gone when it is not finished.
final class PackFile {
  private let path: String
  private let aside: String
  private let descriptor: Int32

  /// Makes the file aside; a pack names users, so only its owner may read it.
  init(_ path: String) throws(NightError) {
    self.path = path
    aside = path + ".new"
    guard (try? FileManager.default.contentsOfDirectory(atPath: path)) == nil else {
      throw NightError(
        .cannotCreate, "cannot write the pack \(path): it is a folder",
        hint: "give the name of a file in it")
    }
    let descriptor = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw NightError(
        .cannotCreate, "cannot write the pack \(path): \(Self.cause)",
        hint: "check that its folder exists and that you may write there")
    }
    self.descriptor = descriptor
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
    guard rename(aside, path) == 0 else {
      throw NightError(
        .cannotCreate, "cannot put the pack in the place of \(path): \(Self.cause)",
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
