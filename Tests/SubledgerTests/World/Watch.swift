import Foundation
import TestSupport
import Testing

/// Everything that a run of the program wrote, including to temporary files, and the permissions of
/// the files it created.
struct Watch {
  /// The environment variables for the program.
  let environment: [String: String]
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    environment = [
      "LD_PRELOAD": try Self.library.get(), "WRITES": folder.path("writes"),
      "MAKES": folder.path("makes"),
    ]
  }

  /// Every written byte.
  func writes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: folder.path("writes"))) }

  /// The created files and folders: `file` or `folder`, the requested mode, and the path.
  func makes() throws -> [(what: String, mode: Int, path: String)] {
    try String(contentsOfFile: folder.path("makes"), encoding: .utf8).split(separator: "\n").map {
      let parts = $0.split(separator: " ", maxSplits: 2).map(String.init)
      return (parts[0], try #require(Int(parts[1], radix: 8)), parts[2])
    }
  }

  /// `Tests/Faults/writes.c`, built once.
  private static let library = Result {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("subledger-writes-\(getpid()).so").path
    let source = Project.path("Tests/Faults/writes.c")
    try output(of: ["clang", "-shared", "-fPIC", "-O1", "-o", path, source, "-ldl"])
    return path
  }
}
