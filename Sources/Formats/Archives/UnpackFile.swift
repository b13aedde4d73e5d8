internal import Glibc

/// Inflates the gzip file at `path` into a new file at `target`.
///
/// - Throws: `ArchiveError` when a file cannot be read or written, or memory is short.
/// - Returns: why the bytes are no whole gzip file of at most `bytesMax` bytes; nil when they are.
public func unpackGzip(
  _ path: String, into target: String, bytesMax: Int64
) throws(ArchiveError) -> String? {
  let location = RawPath(path)
  guard let input = FilePieces(of: path) else {
    throw ArchiveError("read", location, errorNumber: errno)
  }
  guard let output = OpenFile(target, O_WRONLY | O_CREAT | O_EXCL, rights: 0o600) else {
    throw ArchiveError("make", RawPath(target), errorNumber: errno)
  }
  guard let stream = InflateStream() else { throw outOfMemory(location) }
  let made = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
  defer { made.deallocate() }
  var total: Int64 = 0
  var isEnded = false
  while true {
    guard let taken = input.next() else {
      throw ArchiveError("read", location, errorNumber: errno)
    }
    if taken.isEmpty { return isEnded ? nil : "the file ends too early" }
    if isEnded { return "bytes follow its end" }
    var rest = UnsafeMutableRawBufferPointer(mutating: taken)
    var isFull = false
    repeat {
      let step = stream.step(rest, into: made)
      rest = UnsafeMutableRawBufferPointer(rebasing: rest[step.taken...])
      total += Int64(step.made)
      guard total <= bytesMax else { return "it holds more than \(bytesMax) bytes" }
      guard output.write(UnsafeRawBufferPointer(rebasing: made[..<step.made])) else {
        throw ArchiveError("write", RawPath(target), errorNumber: errno)
      }
      isFull = step.made == made.count
      switch step.outcome {
      case .running: break
      case .starved: if !rest.isEmpty { return "its data cannot be read on" }
      case .memberEnd:
        isEnded = true
        if !rest.isEmpty { return "bytes follow its end" }
      case .corrupt(let reason): return reason
      case .outOfMemory: throw outOfMemory(location)
      }
    } while !isEnded && (!rest.isEmpty || isFull)
  }
}
