import Formats
import Foundation
import TestSupport
import Testing

@Suite("A file is written under a temporary name")
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

  @Test("A complete file gets its name, is private, and loses its temporary name")
  func named() throws {
    var output = AtomicFile(for: place)
    #expect(try names() == ["file.part"])
    #expect(Array("abc".utf8).withUnsafeBytes { output?.file.write($0) } == true)
    #expect(try #require(output).publish())
    output = nil
    #expect(try names() == ["file"])
    #expect(FileManager.default.contents(atPath: place) == Data("abc".utf8))
    #expect(OpenFile(place, O_RDONLY)?.rights() == 0o600)
  }

  @Test("A file replaces nothing, and leaves nothing when unfinished")
  func taken() throws {
    var output = AtomicFile(for: place)
    let (other, refusal) = (AtomicFile(for: place), errno)
    #expect(other == nil && refusal == EEXIST)
    try folder.write("mine", to: "file")
    let (isDone, cause) = (try #require(output).publish(), errno)
    #expect(!isDone && cause == EEXIST)
    output = nil
    #expect(try names() == ["file"])
    #expect(FileManager.default.contents(atPath: place) == Data("mine".utf8))
  }
}
