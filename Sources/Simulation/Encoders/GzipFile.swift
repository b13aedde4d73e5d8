import Formats
import Foundation

/// Writes one gzip file.
final class GzipFile {
  private let path: String
  private let file: FileHandle
  private let packer = GzipPacker()

  /// Creates the file and the folders above it.
  init(path: String) throws(SimulationError) {
    self.path = path
    file = try openForWriting(path)
  }

  func write(_ bytes: [UInt8]) throws(SimulationError) {
    try output(to: path) {
      try bytes.withUnsafeBytes { try packer.add($0) { try file.write(contentsOf: Data($0)) } }
    }
  }

  /// Writes what is left and closes the file.
  func finish() throws(SimulationError) {
    try output(to: path) {
      try packer.finish { try file.write(contentsOf: Data($0)) }
      try file.close()
    }
  }
}

/// Creates an empty file, and the folders above it.
private func openForWriting(_ path: String) throws(SimulationError) -> FileHandle {
  let url = URL(fileURLWithPath: path)
  return try output(to: path) {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  }
}

/// Writes a whole small file.
func write(_ text: String, to path: String) throws(SimulationError) {
  let file = try openForWriting(path)
  try output(to: path) {
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }
}

/// Names the file in the error of whatever fails to write it.
private func output<Result>(
  to path: String, _ write: () throws -> Result
) throws(SimulationError) -> Result {
  do {
    return try write()
  } catch {
    throw .output(path: path, reason: error.localizedDescription)
  }
}
