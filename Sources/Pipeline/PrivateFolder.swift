import Domain
import Foundation

/// A new folder in the temporary folder that only its owner can ever read, removed at the end of
/// the scope that holds it.
///
/// Foundation would create it with open permissions and restrict them a moment later.
struct PrivateFolder: ~Copyable {
  private let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("subledger-\(UUID().uuidString)")

  init() throws {
    guard mkdir(url.path, 0o700) != 0 else { return }
    throw SubledgerError.system(
      "make the folder \(url.path)", .inputOutput, cause: errno, at: "TMPDIR")
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
