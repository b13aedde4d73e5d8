// The only file that uses libzstd, if its package was installed at build time.

#if ZSTD
  internal import CZstd

  /// One zstd stream that reads frames and checks their checksums (RFC 8878).
  final class ZstdStream: GzipStream {
    private let stream: OpaquePointer
    /// Bytes of the next block and the header of the one after it: with more in one step, a damaged
    /// block would also lose the previous block's output.
    private var wanted = 0
    /// Whether output of the previous step may be pending; a damaged block would lose it too.
    private var isFull = false

    init?() {
      guard let stream = ZSTD_createDCtx() else { return nil }
      self.stream = stream
      // Windows up to 64 MiB bound the memory.
      ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 26)
      restart()
    }

    func restart() { (wanted, isFull) = (ZSTD_initDStream(stream), false) }

    func step(
      _ input: UnsafeMutableRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> GzipStep {
      var source = ZSTD_inBuffer(src: input.baseAddress, size: 0, pos: 0)
      var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
      var status = isFull ? ZSTD_decompressStream(stream, &target, &source) : 0
      if target.pos == 0 {
        source.size = min(input.count, max(wanted, 1))
        status = ZSTD_decompressStream(stream, &target, &source)
      }
      isFull = target.pos == target.size
      guard ZSTD_isError(status) == 0 else {
        let reason = String(cString: ZSTD_getErrorName(status))
        return GzipStep(taken: source.pos, made: target.pos, outcome: .corrupt(reason))
      }
      wanted = status
      return GzipStep(
        taken: source.pos, made: target.pos, outcome: status == 0 ? .memberEnd : .running)
    }

    deinit { ZSTD_freeDCtx(stream) }
  }
#endif
