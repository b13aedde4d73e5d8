import Formats
import Foundation
import TestSupport
import Testing

@Suite("A file is written beside its place")
struct AtomicFileTests {
  private let folder: TemporaryFolder
  private let place: String

  init() throws {
    folder = try TemporaryFolder()
    place = folder.path("file")
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test("It gets its name whole, for its owner alone, and its other name is gone")
  func named() throws {
    var output = AtomicFile(for: place)
    #expect(try names() == ["file.part"])
    #expect(Array("abc".utf8).withUnsafeBytes { output?.file.write($0) } == true)
    #expect(try #require(output).publish() == nil)
    output = nil
    #expect(try names() == ["file"])
    #expect(FileManager.default.contents(atPath: place) == Data("abc".utf8))
    #expect(OpenFile(place, O_RDONLY)?.rights() == 0o600)
  }

  @Test("It takes the place of nothing, and leaves nothing where it is not finished")
  func taken() throws {
    var output = AtomicFile(for: place)
    let (other, refusal) = (AtomicFile(for: place), errno)
    #expect(other == nil && refusal == EEXIST)
    try folder.write("mine", to: "file")
    let (failure, cause) = (try #require(output).publish(), errno)
    #expect(failure == .name && cause == EEXIST)
    output = nil
    #expect(try names() == ["file"])
    #expect(FileManager.default.contents(atPath: place) == Data("mine".utf8))
  }
}
