internal import Glibc

/// Inflates the gzip file at `path` into a new file at `target`.
///
/// - Throws: `ArchiveError` when a file cannot be read or written.
/// - Returns: why the bytes are no whole gzip file of at most `bytesMax` bytes; nil when they are.
public func unpackGzip(
  _ path: String, into target: String, bytesMax: Int64
) throws(ArchiveError) -> String? {
  let location = ArchivePath(path)
  let input = open(path, O_RDONLY | O_CLOEXEC)
  guard input >= 0 else { throw ArchiveError("read", location, errorNumber: errno) }
  defer { close(input) }
  let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard output >= 0 else { throw ArchiveError("unpack", location, errorNumber: errno) }
  defer { close(output) }
  guard let stream = InflateStream() else { return "there is not enough memory" }
  let taken = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
  let made = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
  defer {
    taken.deallocate()
    made.deallocate()
  }
  var total: Int64 = 0
  var isEnded = false
  while true {
    let count = read(input, taken.baseAddress, taken.count)
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else { throw ArchiveError("read", location, errorNumber: errno) }
    if count == 0 { return isEnded ? nil : "the file ends too early" }
    if isEnded { return "bytes follow its end" }
    var rest = UnsafeMutableRawBufferPointer(rebasing: taken[..<count])
    var isFull = false
    repeat {
      let step = stream.step(rest, into: made)
      rest = UnsafeMutableRawBufferPointer(rebasing: rest[step.taken...])
      total += Int64(step.made)
      guard total <= bytesMax else { return "it holds more than \(bytesMax) bytes" }
      try write(UnsafeRawBufferPointer(rebasing: made[..<step.made]), to: output, of: target)
      isFull = step.made == made.count
      switch step.outcome {
      case .running: break
      case .starved: if !rest.isEmpty { return "its data can not be read on" }
      case .memberEnd:
        isEnded = true
        if !rest.isEmpty { return "bytes follow its end" }
      case .corrupt(let reason): return reason
      case .outOfMemory: return "there is not enough memory"
      }
    } while !isEnded && (!rest.isEmpty || isFull)
  }
}

private func write(
  _ bytes: UnsafeRawBufferPointer, to output: Int32, of target: String
) throws(ArchiveError) {
  var rest = bytes
  while !rest.isEmpty {
    let count = Glibc.write(output, rest.baseAddress, rest.count)
    if count < 0, errno == EINTR { continue }
    guard count > 0 else {
      throw ArchiveError("write", ArchivePath(target), errorNumber: errno)
    }
    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
  }
}
