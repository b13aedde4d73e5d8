// The only file that uses ISA-L, if its package was installed at build time.

#if ISAL
  internal import CIsal

  /// One stream of ISA-L.
  ///
  /// Its output of a damaged member differs from zlib's; see `GzipSource`.
  final class IsalStream: GzipStream {
    private let stream = UnsafeMutablePointer<inflate_state>.allocate(capacity: 1)

    init() { restart() }

    func restart() {
      isal_inflate_init(stream)
      stream.pointee.crc_flag = UInt32(ISAL_GZIP)
    }

    func step(
      _ input: UnsafeMutableRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> GzipStep {
      stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_in = UInt32(input.count)
      stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(output.count)
      let status = isal_inflate(stream)
      let taken = input.count - Int(stream.pointee.avail_in)
      guard status >= ISAL_DECOMP_OK else {
        // After an error, the output may contain bytes from before the member's beginning.
        return GzipStep(taken: taken, made: 0, outcome: .corrupt("error \(status) of ISA-L"))
      }
      let made = output.count - Int(stream.pointee.avail_out)
      let isEnded = stream.pointee.block_state == ISAL_BLOCK_FINISH
      return GzipStep(taken: taken, made: made, outcome: isEnded ? .memberEnd : .running)
    }

    deinit { stream.deallocate() }
  }
#endif
