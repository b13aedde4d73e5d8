enum Compression: CaseIterable {
  case gzip, zstd, bzip2

  /// The name of one of its independent parts in messages.
  var member: String {
    switch self {
    case .gzip: "gzip member"
    case .zstd: "zstd frame"
    case .bzip2: "bzip2 stream"
    }
  }

  /// Whether `bytes`, of which eight suffice, begin a part.
  func begins(_ bytes: some Collection<UInt8>) -> Bool {
    switch self {
    case .gzip: return bytes.starts(with: [0x1F, 0x8B])
    case .zstd:
      // A frame, or a skippable one, whose first byte ends in any hex digit (RFC 8878, 3.1.2).
      let rest = bytes.dropFirst()
      return bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
        || bytes.first.map { $0 & 0xF0 == 0x50 } ?? false && rest.starts(with: [0x2A, 0x4D, 0x18])
    case .bzip2:
      // A block, or the end of an empty stream.
      let block = bytes.dropFirst(4)
      return bytes.starts(with: Array("BZh".utf8))
        && (block.starts(with: [0x31, 0x41, 0x59, 0x26])
          || block.starts(with: [0x17, 0x72, 0x45, 0x38]))
    }
  }

  /// Whether `bytes`, the last of a file, are the beginning of a part's magic.
  func mayBegin(_ bytes: some Collection<UInt8>) -> Bool {
    let magic: [UInt8] =
      switch self {
      case .gzip: [0x1F, 0x8B]
      case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
      case .bzip2: Array("BZh91AY&".utf8)
      }
    return magic.starts(with: bytes)
  }

  /// A stream of the library that reads it on every system; nil if the build lacks the library, or
  /// without memory.
  func stream() -> (any GzipStream)? {
    switch self {
    case .gzip: return InflateStream()
    case .zstd:
      #if ZSTD
        return ZstdStream()
      #else
        return nil
      #endif
    case .bzip2:
      #if BZIP2
        return Bzip2Stream()
      #else
        return nil
      #endif
    }
  }

  /// The compressions that this build can read.
  static let readable = allCases.filter { $0.stream() != nil }
}

/// A library's stream that inflates one gzip member after another and checks CRC-32 and length.
protocol GzipStream: AnyObject {
  func restart()

  /// Inflates as much of `input` into `output` as fits; both have at most 4 GiB.
  func step(
    _ input: UnsafeMutableRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> GzipStep
}

struct GzipStep {
  enum Outcome {
    /// There may be more.
    case running
    case memberEnd
    case corrupt(String)
    case outOfMemory
  }

  let taken: Int
  let made: Int
  let outcome: Outcome

  /// Whether no input was consumed and no output made: while running, the input ends inside the
  /// member.
  var isIdle: Bool { taken == 0 && made == 0 }
}
