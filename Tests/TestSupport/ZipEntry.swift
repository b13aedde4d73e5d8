public import Foundation

/// The text of a file in a zip archive; nil when the archive has no such file.
public func zipEntry(_ name: String, in archive: Data) throws -> String? {
  let bytes = [UInt8](archive)
  func number(_ place: Int, _ width: Int) -> Int {
    (0..<width).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
  }
  // Entries of the central directory, each with the offset of its file.
  var place = number(bytes.count - 6, 4)
  while number(place, 4) == 0x0201_4b50 {
    let nameLength = number(place + 28, 2)
    let found = String(decoding: bytes[(place + 46)..<(place + 46 + nameLength)], as: UTF8.self)
    if found == name {
      let file = number(place + 42, 4)
      let start = file + 30 + number(file + 26, 2) + number(file + 28, 2)
      // Deflated as in a gzip file, followed by the same checksum and length.
      let packed =
        Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
        + bytes[start..<(start + number(place + 20, 4))]
        + bytes[(place + 16)..<(place + 20)] + bytes[(place + 24)..<(place + 28)]
      let folder = try TemporaryFolder()
      let path = folder.path("entry.gz")
      try packed.write(to: URL(fileURLWithPath: path))
      return String(decoding: try gzip("-dc", path), as: UTF8.self)
    }
    place += 46 + nameLength + number(place + 30, 2) + number(place + 32, 2)
  }
  return nil
}
