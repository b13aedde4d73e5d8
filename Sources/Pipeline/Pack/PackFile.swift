import Formats
import Foundation
import Domain

/// Writes a pack under a temporary name in the same folder, and renames it once it is on disk; an
/// unfinished pack leaves nothing.
///
/// Only its owner can read it, because it contains users' ids.
func writePack(to path: String, time: Instant, _ fill: (TarWriter) throws -> Void) throws {
  try requireFreePath(forPack: path)
  func failure(
    _ doing: String = "write", _ kind: SubledgerError.Kind = .inputOutput,
    hint: String = "free space on its disk, or give a file elsewhere"
  ) -> SubledgerError {
    let cause = String(cString: strerror(errno))
    return SubledgerError(kind, "cannot \(doing) the pack \(path): \(cause)", hint: hint)
  }
  guard let part = AtomicFile(for: path) else {
    throw failure(
      "write", .cannotCreate,
      hint: errno == EEXIST
        ? "another pack is writing \(path).part; if none is running, remove what a failed one left"
        : "check that its folder exists and that you may write there")
  }
  let tar = TarWriter(time: time.milliseconds / 1000) {
    guard part.file.write($0) else { throw failure() }
  }
  try fill(tar)
  try tar.finish()
  guard part.publish() else {
    throw failure("write", errno == EEXIST ? .cannotCreate : .inputOutput)
  }
}

/// Refuses an existing path, which may have been named by mistake.
func requireFreePath(forPack path: String) throws {
  var state = stat()
  guard lstat(path, &state) == 0 else { return }
  let isFolder = state.st_mode & S_IFMT == S_IFDIR
  throw SubledgerError(
    .cannotCreate, "cannot write the pack \(path): it \(isFolder ? "is a folder" : "exists")",
    hint: isFolder
      ? "give the name of a file in it"
      : "a pack overwrites no file: give another name, or remove the file")
}
