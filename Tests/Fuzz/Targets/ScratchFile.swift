import Foundation
import Glibc

/// A file that is rewritten for every input, in memory if the system has such a folder.
struct ScratchFile {
  let path: String

  private init(_ name: String) {
    let inMemory = FileManager.default.isWritableFile(atPath: "/dev/shm")
    let folder = inMemory ? "/dev/shm" : NSTemporaryDirectory()
    path = "\(folder)/subledger-fuzz-\(getpid())-\(name)"
    atexit { ScratchFile.all.forEach { _ = unlink($0.path) } }
  }

  /// For archives.
  static let archive = ScratchFile("archive")
  /// For configurations.
  static let settings = ScratchFile("settings")
  private static let all = [archive, settings]

  /// Replaces the content of the file.
  func write(_ bytes: UnsafeRawBufferPointer) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    claim(file >= 0, "the scratch file \(path) can be written")
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(file, rest.baseAddress, rest.count)
      claim(count > 0, "the scratch file \(path) takes all bytes")
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
    close(file)
  }
}
