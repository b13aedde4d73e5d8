internal import Domain
internal import Glibc

/// The first bytes of an open file or of an object, up to the listed length, hashed while read.
final class FileBytes: ByteSource {
  let file: ArchiveFile
  /// Nil for an object.
  private let openFile: OpenFile?
  private var command: CommandOutput?
  private let digest = SHA256Digest()
  private var remaining: Int64
  private(set) var position: Int64 = 0
  /// Bytes that were listed but no longer exist in the file.
  private(set) var missing: Int64 = 0

  init(_ file: ArchiveFile) throws(SubledgerError) {
    self.file = file
    // Without O_NONBLOCK, opening a pipe that replaced the file would block forever.
    openFile = file.isRemote ? nil : OpenFile(file.location.terminated, O_RDONLY | O_NONBLOCK)
    guard openFile != nil || file.isRemote else {
      throw SubledgerError.system("open \(file.location.shown)", cause: errno)
    }
    remaining = file.bytes
  }

  /// The same open file from its beginning, even if its name now belongs to another file.
  init(again bytes: FileBytes) {
    openFile = bytes.openFile
    file = bytes.file
    remaining = bytes.file.bytes
  }

  func read(into target: UnsafeMutableRawBufferPointer) throws(SubledgerError) -> Int {
    try SubledgerError.check(file.stop)
    let wanted = Int(min(Int64(target.count), remaining))
    var filled = 0
    while filled < wanted {
      let rest = UnsafeMutableRawBufferPointer(rebasing: target[filled..<wanted])
      let count = try read(into: rest, at: Int(position) + filled)
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

  private func read(
    into target: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SubledgerError) -> Int {
    if let openFile {
      guard let count = openFile.read(into: target, at: offset) else {
        throw SubledgerError.system("read \(file.location.shown)", cause: errno)
      }
      return count
    }
    if command == nil { command = try file.commands?.reading(file.path, stop: file.stop) }
    guard let command else { preconditionFailure("what is no file is read by commands") }
    let count = try command.read(into: target)
    guard count > 0 else { throw command.failure(other("fewer")) }
    return count
  }

  /// An object that grew or shrank since it was listed is a different one.
  private func requireEnd() throws(SubledgerError) {
    guard let command, file.bytes == file.listed else { return }
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
    defer { scratch.deallocate() }
    guard try command.read(into: scratch) == 0 else {
      throw command.failure(other("more"))
    }
    self.command = nil
  }

  private func other(_ what: String) -> String {
    "\(what) bytes arrived than the \(file.listed) listed"
  }

  /// Reads the rest, and returns the SHA-256 of all bytes.
  func finish() throws(SubledgerError) -> String {
    if remaining > 0 {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
      defer { buffer.deallocate() }
      while try read(into: buffer) > 0 {}
    }
    try requireEnd()
    return digest.finish()
  }
}
