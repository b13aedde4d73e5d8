import Domain
import Foundation
import TestSupport
import Testing

@testable import Formats

@Suite("A signal stops reading a file")
struct StoppedReadingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Reads a whole file; returns the number of skipped values and of signal checks.
  private func read(_ path: String, _ listener: Listener) throws -> Int {
    let listing = try ArchiveFolder.files(under: [path], stop: listener.ask)
    var oversized = 0
    _ = try readArchive(try #require(listing.files.first), valueBytesMax: 1 << 20) { chunk in
      if case .oversizedValue = chunk { oversized += 1 }
    }
    return oversized
  }

  @Test("A signal stops anywhere in an overlong value, at any compression depth", arguments: 0...2)
  func longValue(times: Int) throws {
    var path = try folder.write([UInt8](repeating: 0, count: 3 << 20), to: "zeros")
    for time in 0..<times { path = try folder.write([UInt8](gzip("-nc", path)), to: "\(time)") }
    let undisturbed = Listener(before: .max)
    #expect(try read(path, undisturbed) == 1)
    #expect(undisturbed.count > 3, "each mebibyte asks")
    for before in [0, undisturbed.count / 2, undisturbed.count - 1] {
      let listener = Listener(before: before)
      let error = #expect(throws: SubledgerError.self) { try read(path, listener) }
      #expect(error?.kind == .stopped(15) && listener.count == before + 1)
    }
  }

  @Test("A signal stops hashing a file")
  func hash() throws {
    let path = try folder.write([UInt8](repeating: 0, count: 1 << 20), to: "zeros")
    for (before, isStopped) in [(1, true), (.max, false)] {
      let listing = try ArchiveFolder.files(under: [path], stop: Listener(before: before).ask)
      let file = try #require(listing.files.first)
      var kind: SubledgerError.Kind?
      do throws(SubledgerError) { _ = try sha256(of: file) } catch { kind = error.kind }
      #expect(kind == (isStopped ? .stopped(15) : nil))
    }
  }
}
