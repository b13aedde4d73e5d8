import Foundation

/// Makes a new folder below the temporary one, into which nobody but its owner ever could look.
///
/// Foundation would make it open and close it a moment later.
func makeClosedFolder() throws(NightError) -> URL {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("subledger-\(UUID().uuidString)")
  guard mkdir(folder.path, 0o700) != 0 else { return folder }
  let cause = errno
  let failure = "cannot make the folder \(folder.path): \(String(cString: strerror(cause)))"
  switch cause {
  case EACCES, EPERM, EROFS:
    throw NightError(
      .permission, failure, hint: "set TMPDIR to a folder in which you may make others")
  case ENOENT, ENOTDIR:
    throw NightError(.inputOutput, failure, hint: "set TMPDIR to a folder that exists")
  default:
    throw NightError(
      .inputOutput, failure, hint: "make room in the temporary folder, or set TMPDIR")
  }
}
