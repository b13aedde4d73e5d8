@testable import Formats
import Foundation
import Testing

import TestSupport
import Domain

private func names(_ paths: String...) throws -> [String] {
  try ArchiveFolder.files(under: paths).files.map(\.name)
}

@Test("Folders are listed completely, in byte order of names")
func byteOrder() throws {
  let folder = try TemporaryFolder()
  for name in ["b/2", "b/10", "a.gz", "b.gz", "B", "é", "b/c/d"] { try folder.write("", to: name) }
  #expect(try names(folder.path) == ["B", "a.gz", "b.gz", "b/10", "b/2", "b/c/d", "é"])
  #expect(try names(folder.path + "/") == names(folder.path))
}

@Test("A file is described as it is on disk")
func description() throws {
  let folder = try TemporaryFolder()
  let path = try folder.write("12345", to: "sub/a.jsonl")
  try FileManager.default.setAttributes(
    [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000.25)], ofItemAtPath: path)
  let file = try #require(ArchiveFolder.files(under: [folder.path]).files.first)
  #expect(file.path == path)
  #expect(file.name == "sub/a.jsonl")
  #expect(file.bytes == 5)
  #expect(file.modified == Instant(milliseconds: 1_700_000_000_250))
  #expect(file.inode > 0)
}

@Test("A file given directly is named by its last component, even when hidden")
func fileItself() throws {
  let folder = try TemporaryFolder()
  #expect(try names(folder.write("", to: "sub/a.gz")) == ["a.gz"])
  #expect(try names(folder.write("", to: "sub/.b")) == [".b"])
}

@Test("Hidden entries and entries that are not regular files are skipped and named")
func leftOut() throws {
  let folder = try TemporaryFolder()
  for name in [".hidden", ".git/objects", "a"] { try folder.write("", to: name) }
  #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
  #expect(symlink("nowhere", folder.path("link")) == 0)
  #expect(symlink("circle", folder.path("circle")) == 0)
  let listing = try ArchiveFolder.files(under: [folder.path])
  #expect(listing.files.map(\.name) == ["a"])
  #expect(
    listing.leftOut == [
      SkippedEntry(path: folder.path(".git"), reason: .hidden),
      SkippedEntry(path: folder.path(".hidden"), reason: .hidden),
      SkippedEntry(path: folder.path("circle"), reason: .brokenLink),
      SkippedEntry(path: folder.path("link"), reason: .brokenLink),
      SkippedEntry(path: folder.path("pipe"), reason: .notRegular),
    ])
  #expect(try ArchiveFolder.files(under: [folder.path("pipe")]).files.isEmpty)
}

@Test("A file reached twice is listed once, under its own name")
func reachedTwice() throws {
  let folder = try TemporaryFolder()
  let path = try folder.write("", to: "z/a")
  #expect(symlink("z", folder.path("current")) == 0)
  #expect(symlink("z/a", folder.path("first")) == 0)
  #expect(try names(folder.path) == ["z/a"])
  #expect(try names(folder.path, folder.path, folder.path("z"), path) == ["z/a"])
  #expect(link(path, folder.path("z/hard")) == 0)
  #expect(try names(folder.path) == ["z/a", "z/hard"])
}

@Test("Links out of the root are followed, and circular links end")
func links() throws {
  let folder = try TemporaryFolder()
  for name in ["out/x", "out/deep/y", "root/a"] { try folder.write("", to: name) }
  #expect(symlink("../out", folder.path("root/more")) == 0)
  #expect(symlink("../../root", folder.path("out/deep/back")) == 0)
  #expect(symlink("../out/x", folder.path("root/one")) == 0)
  #expect(try names(folder.path("root")) == ["a", "more/deep/y", "more/x"])
}

@Test("Names that are not UTF-8 or span lines are allowed, and their files can be read")
func strangeNames() throws {
  let folder = try TemporaryFolder()
  let raw: [[UInt8]] = [[0x61, 0x0A, 0x62], [0x66, 0xFF], [0x67, 0x1B]]
  for name in raw {
    let path =
      folder.path.utf8.map { CChar(bitPattern: $0) } + [47]
      + name.map { CChar(bitPattern: $0) } + [0]
    let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
    #expect(write(descriptor, "{}\n", 3) == 3)
    close(descriptor)
  }
  let files = try ArchiveFolder.files(under: [folder.path]).files
  #expect(files.map(\.name) == ["a\\u{a}b", "f\\x{ff}", "g\\u{1b}"])
  for file in files { #expect(try readArchive(file) { _ in }.inflatedBytes == 3) }
}

@Test("A printed path names its file again, even with a combining mark after an escape")
func shownPaths() {
  let names: [[UInt8]] = [
    [0x66, 0xFF], [0x66, 0xFF, 0xCC, 0x81], [0x0A, 0xCC, 0x81, 0x0A], [0x5C, 0xCC, 0x81],
    [0x5C, 0x78, 0x7B, 0x66, 0x66, 0x7D], [0xFF, 0xFF, 0xD8, 0x9A], [0x0D, 0x0A], [0x5C, 0x5C],
  ]
  for name in names {
    #expect(RawPath(unescaping: RawPath(bytes: name).shown).bytes == name)
  }
}

@Test("A missing path is refused", arguments: ["nothing", "file/below", ""])
func missing(name: String) throws {
  let folder = try TemporaryFolder()
  try folder.write("", to: "file")
  let path = name.isEmpty ? "" : folder.path(name)
  let error = #expect(throws: SubledgerError.self) { try ArchiveFolder.files(under: [path]) }
  #expect(error?.kind == .noInput)
  #expect(error?.description.contains("cannot list") == true)
  #expect(error?.description.contains("check the path") == true)
}

@Test(
  "A time too large for milliseconds stays far in the future and does not crash",
  // Few file systems store such times; this one does.
  .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm")))
func farTime() throws {
  let path = "/dev/shm/subledger-\(UUID().uuidString)"
  try Data("{}\n".utf8).write(to: URL(fileURLWithPath: path))
  defer { unlink(path) }
  var times = [timespec(tv_sec: .max, tv_nsec: 0), timespec(tv_sec: .max, tv_nsec: 0)]
  #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
  let file = try #require(ArchiveFolder.files(under: [path]).files.first)
  #expect(file.modified.milliseconds > 9_000_000_000_000)
}
