import Formats

/// Bytes that are kept for long and read rarely, as one gzip member.
enum Gzip {
  /// The member that holds `bytes`.
  static func compress(_ bytes: [UInt8]) -> [UInt8] {
    // Of published rows, level 2 makes an eighth more than the usual 6, in a third of the time.
    gzipMember(of: bytes, level: 2)
  }

  /// What `compress` was given; nil when `bytes` are damaged.
  static func expand(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? { gzipContent(of: Array(bytes)) }
}
