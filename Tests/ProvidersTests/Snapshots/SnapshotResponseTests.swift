import Domain
import Providers
import Testing

@Suite("A provider's response about a user becomes a line that an import accepts")
struct SnapshotResponseTests {
  private let at = Instant(seconds: 1_764_130_000)

  private func page(_ body: String, of provider: Provider) -> SnapshotResponses.Page? {
    var responses = SnapshotResponses()
    return responses.page(Array(body.utf8), of: provider)
  }

  private func line(
    _ lists: [String], app: String = "", of provider: Provider
  ) -> String? {
    var responses = SnapshotResponses()
    return responses.line(
      lists.map { Array($0.utf8) }, user: "u\"1", app: app, at: at, of: provider
    ).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("The list is written on one line, with the position of the next page")
  func pages() {
    let last = page(
      "{\"object\":\"list\",\n\"data\":[{\n\"id\":\"a\"}],\"has_more\":false} ", of: .qonversion)
    #expect(last?.list == Array(#"[{ "id":"a"}]"#.utf8))
    #expect(last != nil && last?.next == nil)
    let more = page(#"{"data":[{"id":"a"},{"id":"b"}],"has_more":true}"#, of: .qonversion)
    #expect(more?.next == "b")
    #expect(page(#"{"purchases":{}}"#, of: .iaptic)?.list == Array("{}".utf8))
  }

  @Test(
    "A truncated body, an error and a list without a next position are refused",
    arguments: [
      "", "{\"data\":[", #"{"data":[]} x"#, #"{"error":{"type":"internal"}}"#, #"{"data":null}"#,
      #"{"data":[],"has_more":true}"#, #"{"data":[{"x":1}],"has_more":true}"#, "[]",
    ])
  func unclear(body: String) { #expect(page(body, of: .qonversion) == nil) }

  @Test("Lists from several responses are joined")
  func joined() throws {
    let item = #"{"id":"a","is_active":true,"source":"x"}"#
    let whole = try #require(line(["[\(item)]", "[]", "[\(item)]"], of: .qonversion))
    #expect(
      whole == #"{"provider":"qonversion","user_id":"u\"1","captured_at":"2025-11-26T04:06:40Z","#
        + #""data":[\#(item),\#(item)]}"#)
  }

  @Test("Each provider's line is read as a snapshot of the user")
  func lines() throws {
    #expect(line([#"{"p":{"purchaseId":"apple:1","productId":"p"}}"#], of: .iaptic) != nil)
    let flobuk = try #require(line(["[]"], app: "com.app", of: .flobuk))
    #expect(flobuk.contains(#""app_id":"com.app""#))
  }

  @Test("A list that an import would reject gives no line")
  func rejected() {
    #expect(line(["[1]"], of: .flobuk) == nil)
    #expect(line([#"[{"id":"a","expires":"yesterday"}]"#], of: .qonversion) == nil)
  }
}
