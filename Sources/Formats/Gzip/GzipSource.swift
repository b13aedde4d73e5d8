internal import Domain

/// Inflates consecutive gzip members, as `cat a.gz b.gz` and appending writers produce them; zstd
/// frames and bzip2 streams likewise.
///
/// Zero bytes between and after members are padding. Any other bytes after a member, a member that
/// ends early, and one with wrong data or checksum end the source with a `damage`.
///
/// The output of a damaged member and the offset of its damage must not depend on the installed
/// library. So if a library other than zlib finds damage, all output of this source is void, and
/// zlib must inflate it from its beginning.
final class GzipSource: ByteSource {
  private enum State { case betweenMembers, insideMember, ended }

  private let compression: Compression
  private let input: ByteWindow
  private let file: ArchiveFile
  private let stream: any GzipStream
  /// Whether damage that the stream reports is final.
  private let isDecisive: Bool
  private var state = State.betweenMembers
  /// Bytes delivered before the current member.
  private var memberStart: Int64 = 0
  private var delivered: Int64 = 0
  private(set) var damage: ArchiveDamage?
  /// Whether the damage may have cut off a line; bytes after whole members cannot.
  private(set) var isTorn = false
  /// Bytes delivered before a member with wrong data or checksum; nil without one, also when the
  /// file ends inside a member.
  private(set) var trusted: Int64?
  /// Whether the delivered bytes are void and zlib must inflate everything; the source then ends.
  private(set) var isVoid = false

  /// A source of the inflated `input`, using the fastest library, or zlib if `byZlib`.
  init(
    _ input: ByteWindow, _ compression: Compression, of file: ArchiveFile, byZlib: Bool
  ) throws(SubledgerError) {
    self.compression = compression
    self.input = input
    self.file = file
    #if ISAL
      if !byZlib, compression == .gzip {
        (stream, isDecisive) = (IsalStream(), false)
        return
      }
    #endif
    guard let stream = compression.stream() else { throw outOfMemory(file) }
    (self.stream, isDecisive) = (stream, true)
  }

  var consumed: Int64 { input.consumed }

  var fileOffset: Int64 { input.fileOffset }

  func read(into target: UnsafeMutableRawBufferPointer) throws(SubledgerError) -> Int {
    // A few bytes of a file can inflate to gigabytes.
    try SubledgerError.check(file.stop)
    var made = 0
    while made < target.count, state != .ended {
      if state == .betweenMembers {
        memberStart = delivered + Int64(made)
        try beginMember()
      } else {
        made += try inflate(into: UnsafeMutableRawBufferPointer(rebasing: target[made...]))
      }
    }
    delivered += Int64(made)
    return made
  }

  private func beginMember() throws(SubledgerError) {
    while try input.fill(atLeast: 1) {
      let padding = input.bytes.prefix { $0 == 0 }.count
      input.consume(padding)
      if !input.bytes.isEmpty { break }
    }
    _ = try input.fill(atLeast: 8)
    if compression.begins(input.bytes) {
      stream.restart()
      state = .insideMember
      if !isDecisive, !hasPlainHeader { (isVoid, state) = (true, .ended) }
    } else if input.bytes.isEmpty {
      state = .ended
    } else if input.bytes.count < 8, compression.mayBegin(input.bytes) {
      input.consume(input.bytes.count)
      end("the file ends in the header of a \(compression.member)", torn: true)
    } else {
      end("bytes that are not \(compression) follow the last member", torn: false)
    }
  }

  /// Whether the header has only what all libraries read alike (RFC 1952 §2.3.1): deflated data, no
  /// header checksum and no reserved flags, which only zlib checks.
  private var hasPlainHeader: Bool {
    let bytes = input.bytes
    return bytes.count >= 4 && bytes[2] == 8 && bytes[3] & 0xE2 == 0
  }

  private func inflate(
    into target: UnsafeMutableRawBufferPointer
  ) throws(SubledgerError) -> Int {
    // At the end of the input, zlib may still hold output, so it is called once more.
    _ = try input.fill(atLeast: 1)
    let step = stream.step(input.bytes, into: target)
    input.consume(step.taken)
    switch step.outcome {
    case .running where step.isIdle:
      end("the file ends inside a \(compression.member)", torn: true)
    case .running: break
    case .memberEnd: state = .betweenMembers
    case .corrupt(let reason):
      end("the \(compression) data is corrupt: \(reason)", torn: true)
      trusted = compression == .gzip ? memberStart : nil
    case .outOfMemory: throw outOfMemory(file)
    }
    return step.made
  }

  private func end(_ detail: String, torn: Bool) {
    damage = ArchiveDamage(offset: fileOffset, detail: detail)
    (isTorn, isVoid, state) = (torn, !isDecisive, .ended)
  }
}

private func outOfMemory(_ file: ArchiveFile) -> SubledgerError {
  SubledgerError(
    .inputOutput, "cannot inflate \(file.location.shown): not enough memory",
    hint: "give the job more memory and run again")
}
