import Formats
import Foundation
import TestSupport
import Testing

@Suite("Paths as bytes")
struct RawPathTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("A name is appended with one slash; an empty name or an empty folder adds none")
  func appending() {
    let name = RawPath("b/c")
    for (path, expected) in [("a", "a/b/c"), ("a/", "a/b/c"), ("/", "/b/c"), ("", "b/c")] {
      #expect(RawPath(path).appending(name) == RawPath(expected))
      #expect(RawPath(path).appending(RawPath("")) == RawPath(path))
    }
  }

  @Test("Names in a folder are sorted by bytes, including those that are not text")
  func names() throws {
    let place = RawPath(folder.path)
    let names = [[0x2e, 0x61], [0x61], [0x62, 0xff], [0xc3, 0xa9], [0xff]]
      .map { RawPath(bytes: $0) }
    for name in names.reversed() {
      let path = place.appending(name).terminated
      #expect(try #require(OpenFile(path, O_WRONLY | O_CREAT, rights: 0o600)).size() == 0)
    }
    #expect(place.names() == names)
    #expect(names.map(\.shown) == [".a", "a", "b\\x{ff}", "é", "\\x{ff}"])
    for name in names { unlink(place.appending(name).terminated) }
    #expect(place.names() == [])
  }

  @Test("A folder that cannot be read has no names, and `errno` has the reason")
  func unreadable() throws {
    let file = try folder.write("", to: "file")
    #expect(RawPath(file).names() == nil)
    #expect(errno == ENOTDIR)
    #expect(RawPath(folder.path("nothing")).names() == nil)
    #expect(errno == ENOENT)
  }
}
