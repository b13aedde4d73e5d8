public import Domain

/// A file that does not contain lines, recognised by its first bytes.
public struct ForeignFile: Error {
  /// Names the file, its format and the command that converts it.
  public let error: SubledgerError

  /// The format of inflated bytes that begin with `bytes`; nil when they may be lines.
  init?(_ bytes: UnsafeRawBufferPointer, path: String) {
    let known = formats.first { bytes.dropFirst($0.offset).starts(with: $0.magic) }
    guard let format = known ?? (Self.beginsNoText(bytes) ? binary : nil) else { return nil }
    error = SubledgerError(
      .damagedInput, "cannot read \(path): it is \(format.name), not lines of JSON",
      hint: format.command.map { "convert it: \($0)" } ?? "deliver lines of JSON, gzip or plain")
  }

  /// Whether the first byte begins no character of UTF-8.
  private static func beginsNoText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.first.map { (0x80..<0xc0).contains($0) || $0 >= 0xf8 } ?? false
  }
}

private struct Format {
  let name: String
  let magic: [UInt8]
  var offset = 0
  /// The command that converts the file to lines; nil where there is none.
  var command: String?
}

private let formats = [
  Format(name: "a zip archive", magic: [0x50, 0x4b, 0x03, 0x04], command: "unzip -p FILE | gzip"),
  Format(
    name: "compressed by xz", magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
    command: "xz -dc FILE | gzip"),
  Format(
    name: "compressed by zstd", magic: [0x28, 0xb5, 0x2f, 0xfd], command: "zstd -dc FILE | gzip"),
  Format(
    name: "compressed by bzip2", magic: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59], offset: 4,
    command: "bzip2 -dc FILE | gzip"),
  Format(
    name: "compressed by lz4", magic: [0x04, 0x22, 0x4d, 0x18], command: "lz4 -dc FILE | gzip"),
  Format(name: "compressed by compress", magic: [0x1f, 0x9d], command: "gzip -dc FILE | gzip"),
  Format(
    name: "a 7z archive", magic: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c],
    command: "7z e -so FILE | gzip"),
  Format(
    name: "a tar archive", magic: Array("ustar".utf8), offset: 257,
    command: "tar -xOf FILE | gzip"),
  Format(name: "UTF-16", magic: [0xff, 0xfe], command: utf16("UTF-16")),
  Format(name: "UTF-16", magic: [0xfe, 0xff], command: utf16("UTF-16")),
  Format(name: "UTF-16", magic: [0x7b, 0x00], command: utf16("UTF-16LE")),
  Format(name: "UTF-16", magic: [0x00, 0x7b], command: utf16("UTF-16BE")),
  Format(name: "an ORC file", magic: Array("ORC".utf8)),
  Format(name: "a Parquet file", magic: Array("PAR1".utf8)),
  Format(name: "an Avro file", magic: Array("Obj\u{1}".utf8)),
  Format(name: "an SQLite database", magic: Array("SQLite format 3\0".utf8)),
  Format(name: "a program", magic: [0x7f, 0x45, 0x4c, 0x46]),
]

private let binary = Format(name: "a binary file", magic: [])

private func utf16(_ encoding: String) -> String {
  "iconv -f \(encoding) -t UTF-8 FILE | gzip"
}
