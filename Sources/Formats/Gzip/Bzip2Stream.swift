// The only file that uses libbz2, if its package was installed at build time.

#if BZIP2
  internal import CBzip2

  /// One bzip2 stream, which checks the CRC-32 of each block.
  final class Bzip2Stream: GzipStream {
    // libbz2 keeps the address of the stream in its state, so the stream must not move.
    private let stream = UnsafeMutablePointer<bz_stream>.allocate(capacity: 1)
    private var status: Int32

    init() {
      stream.initialize(to: bz_stream())
      status = BZ2_bzDecompressInit(stream, 0, 0)
    }

    func restart() {
      BZ2_bzDecompressEnd(stream)
      status = BZ2_bzDecompressInit(stream, 0, 0)
    }

    func step(
      _ input: UnsafeMutableRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> GzipStep {
      guard status == BZ_OK else { return GzipStep(taken: 0, made: 0, outcome: .outOfMemory) }
      stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: CChar.self)
      stream.pointee.avail_in = UInt32(input.count)
      stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: CChar.self)
      stream.pointee.avail_out = UInt32(output.count)
      let result = BZ2_bzDecompress(stream)
      let taken = input.count - Int(stream.pointee.avail_in)
      let made = output.count - Int(stream.pointee.avail_out)
      let outcome: GzipStep.Outcome =
        switch result {
        case BZ_STREAM_END: .memberEnd
        case BZ_OK: .running
        case BZ_MEM_ERROR: .outOfMemory
        default: .corrupt("a block is damaged")
        }
      return GzipStep(taken: taken, made: made, outcome: outcome)
    }

    deinit {
      BZ2_bzDecompressEnd(stream)
      stream.deallocate()
    }
  }
#endif
