public import Domain
import Formats

/// Turns a provider API's response about one user into a line of a snapshot file.
public struct SnapshotResponses {
  /// The content of one response.
  public struct Page: Sendable, Equatable {
    /// The list as received, on one line.
    public let list: [UInt8]
    /// The id after which the next response continues; nil at the end of the list.
    public let next: String?
  }

  private var tape = JSONTape()
  private let reader = SnapshotReader()

  /// A converter for all providers.
  public init() {}

  /// The list in a response of `provider`; nil when the body is not one whole JSON object with a
  /// list, or when a further page has no starting id.
  public mutating func page(_ body: [UInt8], of provider: Provider) -> Page? {
    body.withUnsafeBytes { bytes in
      guard let end = try? tape.read(bytes, from: 0), bytes[end...].allSatisfy(isSpace),
        let list = tape.member(0, provider.interface.list),
        [.array, .object].contains(tape.kind(list))
      else { return nil }
      let text = bytes[tape.span(list)].map { isSpace($0) ? UInt8(ascii: " ") : $0 }
      guard let more = tape.member(0, "has_more"), tape.kind(more) == .true else {
        return Page(list: text, next: nil)
      }
      let last = Array(tape.children(of: list)).last
      guard let id = last.flatMap({ tape.member($0, "id") }), tape.kind(id) == .string else {
        return nil
      }
      return Page(list: text, next: tape.string(id))
    }
  }

  /// The line of `user` with the lists of all responses; nil when an import would reject it.
  public mutating func line(
    _ lists: [[UInt8]], user: String, app: String, at capturedAt: Instant, of provider: Provider
  ) -> [UInt8]? {
    var members: [(String, String)] = [
      ("provider", provider.name), (provider.interface.user, user),
      ("captured_at", capturedAt.text),
    ]
    if !app.isEmpty { members.append(("app_id", app)) }
    var line = Array("{".utf8)
    for (name, text) in members {
      line += "\"\(name)\":".utf8 + JSONValue.string(text).line + ",".utf8
    }
    line += "\"\(provider.interface.list)\":".utf8
    // Lists over several pages are arrays, whose items are concatenated.
    let inner = lists.map { lists.count == 1 ? $0[...] : $0.dropFirst().dropLast() }
      .filter { !$0.isEmpty }
    let items = Array(inner.joined(separator: [UInt8(ascii: ",")]))
    line += lists.count == 1 ? items : [UInt8(ascii: "[")] + items + [UInt8(ascii: "]")]
    line.append(UInt8(ascii: "}"))
    var batch = SnapshotBatch()
    line.withUnsafeBytes {
      reader.read(
        .lines($0, firstLine: 1, firstOffset: 0), capturedAtDefault: nil, to: &batch)
    }
    return batch.snapshots.count == 1 && batch.rejects.isEmpty ? line : nil
  }
}

private func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }
