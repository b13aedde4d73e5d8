import Domain
import TestSupport
import Testing

@testable import Formats

/// The objects under `test://b/in` in a listing command's output `text`.
private func listed(_ text: String) throws -> [(path: String, name: String, object: ListedObject)] {
  let folder = try TemporaryFolder()
  var commands = ArchiveCommands(
    prefix: "test://", list: ["cat", try folder.write(text, to: "list")], read: [])
  commands.environment = ["PATH=/bin:/usr/bin"]
  return try commands.objects(under: "test://b/in/") { 0 }
}

@Suite("Listings of object stores are parsed as tools print them")
struct ObjectListingTests {
  @Test(
    "A three-byte file in a folder is parsed from each tool's listing",
    arguments: [
      #"{"Contents":[{"Key":"in/d/a.gz","Size":3,"ETag":"\"e\"","#
        + #""LastModified":"2026-02-01T00:00:00.000Z"}],"RequestCharged":null}"#,
      #"[{"Path":"d/a.gz","Name":"a.gz","Size":3,"MimeType":"x","#
        + #""ModTime":"2026-02-01T01:00:00+01:00","IsDir":false}]"#,
      #"[{"name":"in/d/a.gz","size":3,"etag":"CK","update_time":"2026-02-01T00:00:00+0000"}]"#,
      #"{"name":"in/d/a.gz","size":"3","etag":"CK","updated":"2026-02-01T00:00:00Z"}"#,
      #"[{"name":"in/d/a.gz","properties":{"contentLength":3,"etag":"0x8","#
        + #""lastModified":"2026-02-01T00:00:00+00:00"}}]"#,
      "d/a.gz\t3\te\n",
    ])
  func tools(text: String) throws {
    let found = try listed(text)
    #expect(found.map(\.path) == ["test://b/in/d/a.gz"] && found.map(\.name) == ["d/a.gz"])
    #expect(found.first?.object.bytes == 3)
    let written = found.first?.object.written
    #expect(written == nil || written == Instant(seconds: 1_769_904_000))
  }

  @Test("The etag is an object's version; the time counts only without one")
  func versions() throws {
    func version(_ etag: String, _ time: String) throws -> Int64? {
      try listed(#"{"Key":"in/a","Size":3,"ETag":"\#(etag)","LastModified":"\#(time)"}"#)
        .first?.object.version
    }
    #expect(try version("a", "2026-02-01T00:00:00Z") == version("a", "2026-02-02T00:00:00Z"))
    #expect(try version("a", "2026-02-01T00:00:00Z") != version("b", "2026-02-01T00:00:00Z"))
    func timed(_ time: String) throws -> Int64? {
      try listed(#"[{"Path":"a","Size":3,"ModTime":"\#(time)"}]"#).first?.object.version
    }
    #expect(try timed("2026-02-01T00:00:00Z") != timed("2026-02-02T00:00:00Z"))
  }

  @Test("Folders, other prefixes and hidden objects are skipped; a single object lists itself")
  func others() throws {
    let keys = ["in/", "in/a", "in-other/b", "in"].map { #"{"Key":"\#($0)","Size":3}"# }
    #expect(
      try listed("[\(keys.joined(separator: ","))]").map(\.path) == [
        "test://b/in/a", "test://b/in",
      ])
    let folder = #"[{"Path":"d","Size":-1,"IsDir":true},{"Path":"a","Size":1}]"#
    #expect(try listed(folder).map(\.name) == ["a"])
    let one = try listed(#"[{"Path":"in","Name":"in","Size":1}]"#)
    #expect(one.map(\.path) == ["test://b/in"] && one.map(\.name) == ["in"])
    #expect(throws: SubledgerError.self) { try listed(#"{"Contents":[]}"#) }
  }
}
