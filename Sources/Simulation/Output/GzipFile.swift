internal import Domain
import Formats
import Foundation

final class GzipFile {
  private let path: String
  private let file: FileHandle
  private let packer = GzipPacker()

  /// Creates the file and its parent folders.
  init(path: String) throws(SubledgerError) {
    self.path = path
    try write("", to: path)
    file = try output(to: path) { try FileHandle(forWritingTo: URL(fileURLWithPath: path)) }
  }

  func add(_ value: JSON) throws(SubledgerError) {
    var line = value.text + "\n"
    try output(to: path) {
      try line.withUTF8 { bytes in
        try packer.add(UnsafeRawBufferPointer(bytes)) { try file.write(contentsOf: Data($0)) }
      }
    }
  }

  func finish() throws(SubledgerError) {
    try output(to: path) {
      try packer.finish { try file.write(contentsOf: Data($0)) }
      try file.close()
    }
  }
}

/// Writes a whole small file, and creates its parent folders.
func write(_ text: String, to path: String) throws(SubledgerError) {
  let url = URL(fileURLWithPath: path)
  try output(to: path) {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }
}

private func output<Result>(
  to path: String, _ write: () throws -> Result
) throws(SubledgerError) -> Result {
  do {
    return try write()
  } catch {
    throw SubledgerError(
      .inputOutput, "cannot write \(path): \(error.localizedDescription)",
      hint: "check that the folder is writable and that the disk has free space")
  }
}
