internal import Domain
internal import Glibc

/// The first bytes of an open file or of an object, up to the listed length, hashed while read.
final class FileBytes: ByteSource {
  let file: ArchiveFile
  /// Nil for an object.
  private let openFile: OpenFile?
  private var command: CommandOutput?
  private let digest = SHA256Digest()
  private(set) var position: Int64 = 0
  /// Bytes that were listed but no longer exist in the file.
  private(set) var missing: Int64 = 0
  private var remaining: Int64 { file.bytes - missing - position }

  init(_ file: ArchiveFile) throws(SubledgerError) {
    self.file = file
    // Without O_NONBLOCK, opening a pipe that replaced the file would block forever.
    openFile = file.isRemote ? nil : OpenFile(file.location.terminated, O_RDONLY | O_NONBLOCK)
    guard openFile != nil || file.isRemote else {
      throw SubledgerError.system("open \(file.location.shown)", cause: errno)
    }
  }

  /// The same open file from its beginning, even if its name now belongs to another file.
  init(again bytes: FileBytes) {
    openFile = bytes.openFile
    file = bytes.file
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
        break
      }
      filled += count
    }
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

  private func other(_ what: String) -> String {
    "\(what) bytes arrived than the \(file.listed) listed"
  }

  /// Reads the rest, and returns the SHA-256 of all bytes.
  ///
  /// An object that grew or shrank since it was listed is a different one: that is an error.
  func finish() throws(SubledgerError) -> String {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { buffer.deallocate() }
    while remaining > 0 { _ = try read(into: buffer) }
    if let command, file.bytes == file.listed {
      guard try command.read(into: buffer) == 0 else { throw command.failure(other("more")) }
      self.command = nil
    }
    return digest.finish()
  }
}
