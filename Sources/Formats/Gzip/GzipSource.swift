internal import Domain

/// Inflates gzip members one after the other, as `cat a.gz b.gz` and appending writers leave them;
/// so also zstd's frames and bzip2's streams.
///
/// Zero bytes between and behind members are padding. Whatever else follows a member, a member that
/// stops early, and one whose data or checksum is wrong end the source with a `damage`.
///
/// The output of a damaged member and the offset of its damage must not depend on the installed
/// library. So a member that another library than zlib finds damaged is inflated again by zlib up
/// to the last delivered byte, and continues from there. Where zlib ends before that byte, as at
/// codes that only the other library accepts, the delivered bytes are void.
final class GzipSource {
  private enum State {
    case betweenMembers
    case insideMember
    case ended
    /// The rest is for zlib.
    case handedOver
  }

  let compression: Compression
  private let input: ByteWindow
  private let path: RawPath
  private let stream: any GzipStream
  private var state = State.betweenMembers
  private var ownDamage: ArchiveDamage?
  private var isOwnTorn = false
  private var isOwnWrong = false
  /// Bytes delivered before the member.
  private var memberStart: Int64 = 0
  private var delivered: Int64 = 0
  /// Makes the same source by zlib, from its beginning; nil when this is that source.
  private let byZlib: (() throws(SubledgerError) -> GzipSource)?
  /// The source by zlib, once the rest is its.
  private var successor: GzipSource?
  /// Whether more was delivered than zlib makes of the same bytes; nothing follows then.
  private(set) var isContradicted = false

  /// A source of the inflated `input`: by the fastest library if `byZlib` can make the same source
  /// again, else by zlib.
  init(
    _ input: ByteWindow, _ compression: Compression, path: RawPath,
    byZlib: (() throws(SubledgerError) -> GzipSource)? = nil
  ) throws(SubledgerError) {
    self.compression = compression
    self.input = input
    self.path = path
    #if ISAL
      if let byZlib, compression == .gzip {
        stream = IsalStream()
        self.byZlib = byZlib
        return
      }
    #endif
    guard let stream = compression.stream() else { throw outOfMemory(path) }
    self.stream = stream
    self.byZlib = nil
  }

  var damage: ArchiveDamage? { successor?.damage ?? ownDamage }

  /// Whether the damage can have cut off a line; bytes that follow whole members cannot.
  var isTorn: Bool { successor?.isTorn ?? isOwnTorn }

  /// Bytes delivered before the member whose data or checksum is wrong; nil without one, also when
  /// the file ends inside a member.
  var trusted: Int64? { successor?.trusted ?? (isOwnWrong ? memberStart : nil) }

  /// The level below, when that is inflated, too.
  var below: GzipSource? {
    if case .gzip(let below) = input.source { return below }
    return nil
  }

  var consumed: Int64 { successor?.consumed ?? input.consumed }

  /// Consumed bytes of the file; above the first level, including bytes read ahead.
  var fileOffset: Int64 { below?.fileOffset ?? input.consumed }

  func read(into target: UnsafeMutableRawBufferPointer) throws(SubledgerError) -> Int {
    try checkStop()
    if let successor { return try successor.read(into: target) }
    let made = try inflateMembers(into: target)
    guard state == .handedOver, let byZlib else {
      delivered += Int64(made)
      return made
    }
    let successor = try byZlib()
    self.successor = successor
    guard try successor.skip(delivered) else {
      isContradicted = true
      return 0
    }
    return try successor.read(into: target)
  }

  func checkStop() throws(SubledgerError) { try input.source.checkStop() }

  /// Passes over as many bytes, piece by piece; false when there are less.
  func skip(
    _ count: Int64, _ body: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) throws(SubledgerError) -> Bool {
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { scratch.deallocate() }
    var left = count
    while left > 0 {
      let part = UnsafeMutableRawBufferPointer(
        rebasing: scratch.prefix(Int(min(Int64(scratch.count), left))))
      let passed = try read(into: part)
      left -= Int64(passed)
      body(UnsafeRawBufferPointer(rebasing: part[..<passed]))
      if passed < part.count { return false }
    }
    return true
  }

  private func inflateMembers(
    into target: UnsafeMutableRawBufferPointer
  ) throws(SubledgerError) -> Int {
    var made = 0
    while made < target.count {
      switch state {
      case .ended, .handedOver: return made
      case .betweenMembers:
        memberStart = delivered + Int64(made)
        try beginMember()
      case .insideMember:
        made += try inflate(into: UnsafeMutableRawBufferPointer(rebasing: target[made...]))
      }
    }
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
      state = byZlib == nil || hasPlainHeader ? .insideMember : .handedOver
    } else if input.bytes.isEmpty {
      state = .ended
    } else if input.bytes.count < 8, compression.mayBegin(input.bytes) {
      input.consume(input.bytes.count)
      end("the file ends in the header of a \(compression.member)", torn: true)
    } else {
      end("bytes that are not \(compression) follow the last member", torn: false)
    }
  }

  /// Whether the header has only what every library reads alike (RFC 1952 §2.3.1): deflated data,
  /// no checksum of the header and no reserved flags, which zlib looks at and others do not.
  private var hasPlainHeader: Bool {
    let bytes = input.bytes
    return bytes.count >= 4 && bytes[2] == 8 && bytes[3] & 0xE2 == 0
  }

  private func inflate(
    into target: UnsafeMutableRawBufferPointer
  ) throws(SubledgerError) -> Int {
    // At the end of the input zlib may still hold output, so it is asked once more.
    _ = try input.fill(atLeast: 1)
    let step = stream.step(input.bytes, into: target)
    input.consume(step.taken)
    switch step.outcome {
    case .running: break
    case .memberEnd: state = .betweenMembers
    case .starved: end("the file ends inside a \(compression.member)", torn: true)
    case .corrupt(let reason):
      end("the \(compression) data is corrupt: \(reason)", torn: true)
      isOwnWrong = state == .ended && compression == .gzip
    case .outOfMemory: throw outOfMemory(path)
    }
    return step.made
  }

  private func end(_ detail: String, torn: Bool) {
    guard byZlib == nil else { return state = .handedOver }
    ownDamage = ArchiveDamage(offset: fileOffset, detail: detail)
    isOwnTorn = torn
    state = .ended
  }
}

func outOfMemory(_ path: RawPath) -> SubledgerError {
  SubledgerError(
    .inputOutput, "cannot inflate \(path.shown): not enough memory",
    hint: "give the job more memory and run again")
}
