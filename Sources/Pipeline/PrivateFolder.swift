import Domain
import Foundation

/// A new folder in the temporary folder that only its owner can ever read, removed with this
/// object.
///
/// Foundation would create it with open permissions and restrict them a moment later.
final class PrivateFolder {
  private let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("subledger-\(UUID().uuidString)")

  init() throws {
    guard mkdir(url.path, 0o700) != 0 else { return }
    let cause = errno
    let failure = "cannot make the folder \(url.path): \(String(cString: strerror(cause)))"
    switch cause {
    case EACCES, EPERM, EROFS:
      throw SubledgerError(
        .permission, failure, hint: "set TMPDIR to a folder in which you can create folders")
    case ENOENT, ENOTDIR:
      throw SubledgerError(.inputOutput, failure, hint: "set TMPDIR to a folder that exists")
    default:
      throw SubledgerError(
        .inputOutput, failure, hint: "free space in the temporary folder, or set TMPDIR")
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
