import Formats
import Foundation
import TestSupport
import Testing

@Suite("Paths as the system knows them")
struct RawPathTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("A name stands behind one slash; an empty one is the folder, and the empty folder none")
  func appending() {
    let name = RawPath("b/c")
    for (path, expected) in [("a", "a/b/c"), ("a/", "a/b/c"), ("/", "/b/c"), ("", "b/c")] {
      #expect(RawPath(path).appending(name) == RawPath(expected))
      #expect(RawPath(path).appending(RawPath("")) == RawPath(path))
    }
  }

  @Test("Names of a folder come in the order of bytes, also those that are no text")
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

  @Test("A folder that cannot be read has no names, and `errno` says why")
  func unreadable() throws {
    let file = try folder.write("", to: "file")
    #expect(RawPath(file).names() == nil)
    #expect(errno == ENOTDIR)
    #expect(RawPath(folder.path("nothing")).names() == nil)
    #expect(errno == ENOENT)
  }
}
