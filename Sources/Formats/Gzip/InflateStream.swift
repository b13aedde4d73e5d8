// The only file of this module besides GzipPacker.swift that uses zlib.

internal import CZlib

/// The libraries that inflate archives in this build.
public enum InflateLibrary {
  /// The name of the library and the version of zlib, which decides where they differ.
  public static var inUse: String {
    let zlib = "zlib \(String(cString: zlibVersion()))"
    #if ISAL
      return "ISA-L, checked by \(zlib)"
    #else
      return zlib
    #endif
  }

  /// The compressions of archives that can be read.
  public static var formats: String {
    Compression.readable.map { "\($0)" }.joined(separator: ", ")
  }
}

/// One zlib stream that inflates gzip members and checks their CRC-32 and length (RFC 1952).
final class InflateStream: GzipStream {
  // zlib keeps the address of the stream in its state, so the stream must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  init?() {
    stream.initialize(to: z_stream())
    // 15: the largest window; + 16: gzip header and trailer are required.
    let status = inflateInit2_(
      stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { return nil }
  }

  func restart() { inflateReset(stream) }

  func step(
    _ input: UnsafeMutableRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> GzipStep {
    stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(output.count)
    let status = inflate(stream, Z_NO_FLUSH)
    let taken = input.count - Int(stream.pointee.avail_in)
    let made = output.count - Int(stream.pointee.avail_out)
    let outcome: GzipStep.Outcome =
      switch status {
      case Z_STREAM_END: .memberEnd
      case Z_OK, Z_BUF_ERROR: .running
      case Z_MEM_ERROR: .outOfMemory
      default: .corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "invalid data")
      }
    return GzipStep(taken: taken, made: made, outcome: outcome)
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }
}
