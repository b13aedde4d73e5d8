import Foundation

/// Makes a new folder below the temporary one, into which nobody but its owner ever could look.
///
/// Foundation would make it open and close it a moment later.
func makeClosedFolder() throws(NightError) -> URL {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("subledger-\(UUID().uuidString)")
  guard mkdir(folder.path, 0o700) == 0 else {
    throw NightError(
      .inputOutput, "cannot make the folder \(folder.path): \(String(cString: strerror(errno)))",
      hint: "make room in the temporary folder, or set TMPDIR")
  }
  return folder
}
