import Domain
import Formats
import Foundation
import TestSupport
import Testing

@Suite("Unpacking a gzip file")
struct UnpackTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("A complete file is unpacked into a new one")
  func whole() throws {
    let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0) }
    let path = try folder.write(gzip(bytes), to: "packed.gz")
    #expect(try unpackGzip(path, into: folder.path("out"), bytesMax: 600_000) == nil)
    #expect(try [UInt8](Data(contentsOf: folder.url.appendingPathComponent("out"))) == bytes)
  }

  @Test("A file that is incomplete or too large is reported")
  func broken() throws {
    let whole = gzip("content")
    let cases = [
      (Array(whole.dropLast()), "the file ends too early"), (whole + [0], "bytes follow its end"),
      (gzip("too long"), "it holds more than 7 bytes"),
    ]
    for (index, (bytes, reason)) in cases.enumerated() {
      let path = try folder.write(bytes, to: "packed-\(index).gz")
      #expect(try unpackGzip(path, into: folder.path("out-\(index)"), bytesMax: 7) == reason)
    }
  }

  @Test("A file that cannot be read or created is named, with the reason")
  func refused() throws {
    let path = try folder.write(gzip("content"), to: "packed.gz")
    let taken = try folder.write("taken", to: "taken")
    for (input, output, message) in [
      ("/missing", folder.path("out"), "cannot read /missing: No such file or directory"),
      (path, "/missing/out", "cannot make /missing/out: No such file or directory"),
      (path, taken, "cannot make \(taken): File exists"),
    ] {
      let error = #expect(throws: SubledgerError.self) {
        try unpackGzip(input, into: output, bytesMax: 100)
      }
      #expect(error?.description.hasPrefix(message) == true)
    }
  }
}
