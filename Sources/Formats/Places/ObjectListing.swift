internal import Domain

struct ListedObject: Sendable, Equatable {
  /// Its name relative to the listed folder, or its key in the bucket.
  let name: String
  /// Whether the name is relative to the listed folder.
  let isRelative: Bool
  let bytes: Int64
  /// A hash of its etag, or of another value that changes with its content.
  let version: Int64
  /// When it was written; nil if unknown.
  let written: Instant?
}

/// The output of a list command, in the format of common tools: JSON in which any object with a
/// name and a size is listed, or lines of name, size and version separated by tabs.
struct ObjectListing {
  private(set) var objects: [ListedObject] = []
  private var tape = JSONTape(nodesMax: 1 << 25)

  init(of bytes: [UInt8], by command: CommandOutput) throws(SubledgerError) {
    guard !bytes.allSatisfy({ $0 <= UInt8(ascii: " ") }) else { return }
    let isRead = bytes.withUnsafeBytes { bytes in
      let first = bytes.first { $0 > UInt8(ascii: " ") }
      return first.map(ValueEnd.isOpening) == true ? read(json: bytes) : read(lines: bytes)
    }
    guard isRead else {
      throw command.failure(
        "the listing is neither JSON nor tab-separated lines of name, size and version")
    }
  }

  private mutating func read(lines bytes: UnsafeRawBufferPointer) -> Bool {
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      guard fields.count == 3, let size = Int64(fields[1]), size >= 0 else { return false }
      var fingerprint = Fingerprint()
      fingerprint.combine(String(fields[2]))
      objects.append(
        ListedObject(
          name: String(fields[0]), isRelative: true, bytes: size, version: fingerprint.value,
          written: nil))
    }
    return true
  }

  private mutating func read(json bytes: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    do throws(JSONProblem) {
      while bytes[position...].contains(where: { $0 > UInt8(ascii: " ") }) {
        position = try tape.read(bytes, from: position)
        add(0, of: bytes)
      }
      return true
    } catch {
      return false
    }
  }

  private mutating func add(_ node: JSONNode, of bytes: UnsafeRawBufferPointer) {
    switch tape.kind(node) {
    case .array: for child in tape.children(of: node) { add(child, of: bytes) }
    case .object:
      if let object = object(node, of: bytes) {
        objects.append(object)
      } else {
        for key in tape.children(of: node) { add(tape.value(ofKey: key), of: bytes) }
      }
    default: break
    }
  }

  /// The object that `node` describes; nil if it does not describe one, or describes a folder.
  private func object(_ node: JSONNode, of bytes: UnsafeRawBufferPointer) -> ListedObject? {
    // Azure's command line puts all values except the name in a member.
    let parts = [node] + [tape.member(node, "properties")].compactMap(\.self)
    func first(_ names: [String]) -> JSONNode? {
      names.lazy.compactMap { name in
        parts.lazy.compactMap { tape.member($0, name) }.first { tape.kind($0) != .null }
      }.first
    }
    let path = first(["Path"])
    guard let name = (path ?? first(["Key", "name"])).map(tape.string), !name.contains("\0"),
      let size = first(["Size", "size", "contentLength"]).flatMap({ Int64(tape.string($0)) }),
      size >= 0
    else { return nil }
    let time = first(["ModTime", "LastModified", "lastModified", "update_time", "updated"])
    let version = first(["ETag", "etag", "Hashes", "md5_hash", "md5Hash", "generation"]) ?? time
    var fingerprint = Fingerprint()
    if let version {
      fingerprint.combine(UnsafeRawBufferPointer(rebasing: bytes[tape.span(version)]))
    }
    return ListedObject(
      name: name, isRelative: path != nil, bytes: size, version: fingerprint.value,
      written: time.flatMap { InstantText.rfc3339(tape.bytes($0)) })
  }
}
