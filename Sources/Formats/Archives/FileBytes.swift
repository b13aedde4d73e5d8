internal import Domain
internal import Glibc

/// The first bytes of an open file, as many as were listed, hashed on the way.
final class FileBytes {
  private let file: ArchiveFile
  private let openFile: OpenFile
  private let digest = SHA256Digest()
  private var remaining: Int64
  private(set) var position: Int64 = 0
  /// Bytes that the listing promised and the file no longer has.
  private(set) var missing: Int64 = 0

  /// Opens `file` to read the bytes that were listed.
  init(_ file: ArchiveFile) throws(SubledgerError) {
    // Without O_NONBLOCK a pipe that took the file's place would keep us waiting for ever.
    guard let openFile = OpenFile(file.location.terminated, O_RDONLY | O_NONBLOCK) else {
      throw SubledgerError.system("open \(file.location.shown)", cause: errno)
    }
    self.openFile = openFile
    self.file = file
    remaining = file.bytes
  }

  /// The same open file from its beginning, whatever has its name by now.
  init(again bytes: FileBytes) {
    openFile = bytes.openFile
    file = bytes.file
    remaining = bytes.file.bytes
  }

  /// Fills `target`; less only at the end.
  func read(into target: UnsafeMutableRawBufferPointer) throws(SubledgerError) -> Int {
    try checkStop()
    let wanted = Int(min(Int64(target.count), remaining))
    var filled = 0
    while filled < wanted {
      let rest = UnsafeMutableRawBufferPointer(rebasing: target[filled..<wanted])
      guard let count = openFile.read(into: rest, at: Int(position) + filled) else {
        throw SubledgerError.system("read \(file.location.shown)", cause: errno)
      }
      if count == 0 {
        missing = remaining - Int64(filled)
        remaining = Int64(filled)
        break
      }
      filled += count
    }
    remaining -= Int64(filled)
    position += Int64(filled)
    digest.update(UnsafeRawBufferPointer(rebasing: target.prefix(filled)))
    return filled
  }

  /// Throws when a signal asked to stop.
  func checkStop() throws(SubledgerError) { try SubledgerError.check(file.stop) }

  /// The SHA-256 of all the bytes, after reading the rest.
  func finish() throws(SubledgerError) -> String {
    if remaining > 0 {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
      defer { buffer.deallocate() }
      while try read(into: buffer) > 0 {}
    }
    return digest.finish()
  }
}
