internal import Domain

/// A 64-bit hash of bytes that does not depend on how they are split into pieces.
///
/// SHA-256 of all inflated bytes would take a tenth of a run.
struct ContentHash {
  private static let blockSize = 4096

  private var blocks = Fingerprint()
  /// The bytes of an incomplete block.
  private var held: [UInt8] = []

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    if !held.isEmpty {
      let missing = rest.prefix(Self.blockSize - held.count)
      held += missing
      rest = rest.dropFirst(missing.count)
      guard held.count == Self.blockSize else { return }
      held.withUnsafeBytes { blocks.combine($0) }
      held.removeAll(keepingCapacity: true)
    }
    while rest.count >= Self.blockSize {
      blocks.combine(UnsafeRawBufferPointer(rebasing: rest.prefix(Self.blockSize)))
      rest = rest.dropFirst(Self.blockSize)
    }
    held += rest
  }

  var value: Int64 {
    var all = blocks
    held.withUnsafeBytes { all.combine($0) }
    return all.value
  }
}
