internal import Domain
import Formats
import Foundation

/// Writes one gzip file of JSON lines.
final class GzipFile {
  private let path: String
  private let file: FileHandle
  private let packer = GzipPacker()
  private var buffer: [UInt8] = []

  /// Creates the file and the folders above it.
  init(path: String) throws(SubledgerError) {
    self.path = path
    file = try openForWriting(path)
  }

  func add(_ value: JSON) throws(SubledgerError) {
    value.write(into: &buffer)
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count > 1 << 16 { try flush() }
  }

  private func flush() throws(SubledgerError) {
    try output(to: path) {
      try buffer.withUnsafeBytes { try packer.add($0) { try file.write(contentsOf: Data($0)) } }
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Writes the rest and closes the file.
  func finish() throws(SubledgerError) {
    try flush()
    try output(to: path) {
      try packer.finish { try file.write(contentsOf: Data($0)) }
      try file.close()
    }
  }
}

/// Creates an empty file, and the folders above it.
private func openForWriting(_ path: String) throws(SubledgerError) -> FileHandle {
  let url = URL(fileURLWithPath: path)
  return try output(to: path) {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  }
}

/// Writes a whole small file.
func write(_ text: String, to path: String) throws(SubledgerError) {
  let file = try openForWriting(path)
  try output(to: path) {
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }
}

/// Names the file in the error of whatever fails to write it.
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
