import Domain
import Formats
import Foundation

/// Writes files into a tar archive (POSIX ustar) with gzip: the same files give the same bytes.
///
/// Every entry is a plain file with mode 0644, user 0 and the same time.
struct TarWriter {
  /// Seconds since 1970.
  let time: Int64
  let write: (UnsafeRawBufferPointer) throws -> Void
  private let packer = GzipPacker()

  /// Adds the file at `path` as `name`, which has at most 100 bytes.
  func add(_ path: String, as name: String) throws {
    guard name.utf8.count <= 100 else {
      throw SubledgerError(.cannotCreate, "cannot pack \(name): the name is longer than 100 bytes")
    }
    let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    let size = try input.seekToEnd()
    try input.seek(toOffset: 0)
    try pack(Data(header(name, size: Int64(size))))
    var left = Int(size)
    while left > 0, let piece = try input.read(upToCount: min(left, 1 << 18)), !piece.isEmpty {
      try pack(piece)
      left -= piece.count
    }
    guard left == 0 else {
      throw SubledgerError(.inputOutput, "cannot pack \(path): it has shrunk")
    }
    try pack(Data(repeating: 0, count: (512 - Int(size % 512)) % 512))
  }

  /// Ends the archive with two empty blocks.
  func finish() throws {
    try pack(Data(repeating: 0, count: 1024))
    try packer.finish(write)
  }

  private func pack(_ bytes: Data) throws {
    try bytes.withUnsafeBytes { try packer.add($0, write) }
  }

  private func header(_ name: String, size: Int64) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, at offset: Int) {
      for (index, byte) in text.utf8.enumerated() { block[offset + index] = byte }
    }
    func octal(_ value: Int64, _ digits: Int) -> String {
      String(value, radix: 8).zeroPadded(to: digits)
    }
    put(name, at: 0)
    put(octal(0o644, 7), at: 100)
    put(octal(0, 7), at: 108)
    put(octal(0, 7), at: 116)
    put(octal(size, 11), at: 124)
    put(octal(max(0, time), 11), at: 136)
    put("        ", at: 148)
    put("0", at: 156)
    put("ustar", at: 257)
    put("00", at: 263)
    let sum = block.reduce(Int64(0)) { $0 + Int64($1) }
    put(octal(sum, 6) + "\0 ", at: 148)
    return block
  }
}

/// Writes every file of a tar archive into `folder`, and returns names and sizes; nil for an
/// archive that `TarWriter` did not write.
func extractTar(
  _ path: String, into folder: String, _ stop: () -> Int32
) throws -> [(name: String, size: Int)]? {
  let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
  let filesMax = 100_000
  var files: [(name: String, size: Int)] = []
  var names: Set<String> = []
  var folders: Set<String> = []
  while let block = try input.read(upToCount: 512), block.count == 512 {
    let header = [UInt8](block)
    if header.allSatisfy({ $0 == 0 }) {
      // `tar` continues after an end, and would read a second archive.
      while let piece = try input.read(upToCount: 1 << 18), !piece.isEmpty {
        guard piece.allSatisfy({ $0 == 0 }) else { return nil }
      }
      return files
    }
    try SubledgerError.check(stop)
    guard let entry = TarEntry(header), files.count < filesMax,
      !folders.contains(entry.name), names.insert(entry.name).inserted,
      names.isDisjoint(with: entry.folders)
    else { return nil }
    folders.formUnion(entry.folders)
    let url = URL(fileURLWithPath: "\(folder)/\(entry.name)")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: url)
    let output = try FileHandle(forWritingTo: url)
    var left = entry.size
    while left > 0 {
      guard let piece = try input.read(upToCount: min(left, 1 << 18)), !piece.isEmpty else {
        return nil
      }
      try output.write(contentsOf: piece)
      left -= piece.count
    }
    try output.close()
    let padding = (512 - entry.size % 512) % 512
    if padding > 0, try input.read(upToCount: padding)?.count != padding { return nil }
    files.append((entry.name, entry.size))
  }
  return nil
}

private struct TarEntry {
  let name: String
  let size: Int

  let folders: [String]

  init?(_ block: [UInt8]) {
    func text(_ range: Range<Int>) -> String {
      String(decoding: block[range].prefix { $0 != 0 && $0 != 32 }, as: UTF8.self)
    }
    var blank = block
    for index in 148..<156 { blank[index] = 32 }
    let sum = blank.reduce(0) { $0 + Int($1) }
    guard Int(text(148..<156), radix: 8) == sum, block[156] == UInt8(ascii: "0"),
      let size = Int(text(124..<136), radix: 8)
    else { return nil }
    name = String(decoding: block[..<100].prefix { $0 != 0 }, as: UTF8.self)
    self.size = size
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else { return nil }
    folders = (1..<parts.count).map { parts[..<$0].joined(separator: "/") }
  }
}
