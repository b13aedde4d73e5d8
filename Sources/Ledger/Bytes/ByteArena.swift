internal import Glibc

/// Memory for many small pieces of bytes that stay where they are and go together.
///
/// It comes straight from the system and goes back there at once: the allocator would keep it, and
/// the fold, which comes after, needs as much again.
final class ByteArena {
  private var blocks: [UnsafeMutableRawBufferPointer] = []
  private var used = 0
  /// All bytes taken from the system.
  private(set) var size = 0

  /// That of a huge page: what a lineage gathers lies all over the arena, and finding small pages
  /// costs more than reading them.
  private static let blockSize = 2 << 20

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
    return firstRoom(for: count)
  }

  /// Room in a new block.
  private func firstRoom(for count: Int) -> UnsafeMutableRawPointer {
    let length = max(count, Self.blockSize)
    guard
      let block = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      block != MAP_FAILED
    else { preconditionFailure("out of memory, as every allocation may be") }
    madvise(block, length, MADV_HUGEPAGE)
    blocks.append(UnsafeMutableRawBufferPointer(start: block, count: length))
    size += length
    used = count
    return block
  }

  deinit { for block in blocks { munmap(block.baseAddress, block.count) } }
}
