/// Inflates gzip members one after the other, as `cat a.gz b.gz` and appending writers leave them.
///
/// Zero bytes between and behind members are padding. Whatever else follows a member, a member that
/// stops early, and one whose data or checksum is wrong end the source with a `damage`.
final class GzipSource {
  private enum State {
    case betweenMembers
    case insideMember
    case ended
  }

  /// Why and where the source ended early.
  private(set) var damage: ArchiveDamage?
  /// Whether the damage can have cut off a line; bytes that follow whole members cannot.
  private(set) var isTorn = false
  private let input: ByteWindow
  private let path: ArchivePath
  private let stream: InflateStream
  private var state = State.betweenMembers

  init(_ input: ByteWindow, path: ArchivePath) throws(ArchiveError) {
    guard let stream = InflateStream() else { throw outOfMemory(path) }
    self.input = input
    self.path = path
    self.stream = stream
  }

  /// The level below, when that is inflated, too.
  var below: GzipSource? {
    if case .gzip(let below) = input.source { return below }
    return nil
  }

  /// Bytes of the file that are used up.
  var fileOffset: Int64 { below?.fileOffset ?? input.consumed }

  /// Fills `target`; less only at the end.
  func read(into target: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
    var made = 0
    while made < target.count {
      switch state {
      case .ended: return made
      case .betweenMembers: try beginMember()
      case .insideMember:
        made += try inflate(into: UnsafeMutableRawBufferPointer(rebasing: target[made...]))
      }
    }
    return made
  }

  private func beginMember() throws(ArchiveError) {
    while try input.fill(atLeast: 1) {
      let padding = input.bytes.prefix { $0 == 0 }.count
      input.consume(padding)
      if !input.bytes.isEmpty { break }
    }
    if try input.startsWithGzipMagic() {
      stream.restart()
      state = .insideMember
    } else if input.bytes.isEmpty {
      state = .ended
    } else if input.bytes.count == 1, input.bytes[0] == 0x1F {
      input.consume(1)
      end("the file ends in the header of a gzip member", torn: true)
    } else {
      end("bytes that are not gzip follow the last member", torn: false)
    }
  }

  private func inflate(
    into target: UnsafeMutableRawBufferPointer
  ) throws(ArchiveError) -> Int {
    // At the end of the input zlib may still hold output, so it is asked once more.
    _ = try input.fill(atLeast: 1)
    let step = stream.step(input.bytes, into: target)
    input.consume(step.taken)
    switch step.outcome {
    case .running: break
    case .memberEnd: state = .betweenMembers
    case .starved: end("the file ends inside a gzip member", torn: true)
    case .corrupt(let reason): end("the gzip data is corrupt: \(reason)", torn: true)
    case .outOfMemory: throw outOfMemory(path)
    }
    return step.made
  }

  private func end(_ detail: String, torn: Bool) {
    damage = ArchiveDamage(offset: fileOffset, detail: detail)
    isTorn = torn
    state = .ended
  }
}

private func outOfMemory(_ path: ArchivePath) -> ArchiveError {
  ArchiveError("inflate", path, reason: "not enough memory")
}
