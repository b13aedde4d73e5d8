/// Memory for many small pieces of bytes that stay where they are and go together.
final class ByteArena {
  private var blocks: [UnsafeMutableRawBufferPointer] = []
  private var used = 0
  /// All bytes taken from the system.
  private(set) var size = 0

  private static let blockSize = 1 << 20

  /// A copy of `bytes` that is good as long as the arena.
  @inline(__always)
  func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard let source = bytes.baseAddress, !bytes.isEmpty else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    let place = room(for: bytes.count)
    place.copyMemory(from: source, byteCount: bytes.count)
    return UnsafeRawBufferPointer(start: place, count: bytes.count)
  }

  @inline(__always)
  private func room(for count: Int) -> UnsafeMutableRawPointer {
    if let block = blocks.last, let base = block.baseAddress, block.count - used >= count {
      defer { used += count }
      return base + used
    }
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: max(count, Self.blockSize), alignment: 16)
    let length = max(count, Self.blockSize)
    blocks.append(UnsafeMutableRawBufferPointer(start: block, count: length))
    size += length
    used = count
    return block
  }

  deinit { for block in blocks { block.deallocate() } }
}
