import Domain
import TestSupport
import Testing

@testable import Pipeline

@Suite("A new configuration describes the input it found")
struct NewConfigurationTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func read(_ new: NewConfiguration) throws -> Configuration {
    try Configuration.read(Array(new.text.utf8), named: "new.yaml")
  }

  private func snapshot(_ user: String, _ product: String) -> String {
    #"{"provider":"qonversion","user_id":"\#(user)","captured_at":1772200000,"#
      + #""entitlements":[{"id":"premium","product_id":"\#(product)","active":true}]}"# + "\n"
  }

  private func event(_ number: Int, _ product: String) -> String {
    #"{"event_name":"subscription_started","user_id":"u\#(number)","time":1772193600,"#
      + #""created_at":1772193660,"product_id":"\#(product)","transaction":"#
      + #"{"transaction_id":\#(number),"original_transaction_id":\#(number),"#
      + #""expires":1774612800,"transaction_date":1772193600},"properties":{},"#
      + #""environment":"production","platform":"iOS","country":"US","app_id":"77"}"# + "\n"
  }

  private func new() throws -> NewConfiguration {
    try NewConfiguration(
      archives: [folder.path("in")], snapshots: [folder.path("snaps")], stop: { 0 })
  }

  @Test("Providers and apps of the archives are named, and paths are set")
  func found() throws {
    let new = try NewConfiguration(
      archives: [Project.path("sample-data/archives")],
      snapshots: [Project.path("sample-data/snapshots")], stop: { 0 })
    for provider in Provider.allCases { #expect(new.text.contains("# - \(provider.name), app ")) }
    let configuration = try read(new)
    #expect(configuration.job.archives == [Project.path("sample-data/archives")])
    #expect(configuration.job.snapshots == [Project.path("sample-data/snapshots")])
    #expect(configuration.products.isEmpty, "a proposal is not followed before somebody takes it")
    #expect(configuration.timezone.identifier == "UTC")
  }

  @Test("Of many archives, the newest is always looked at", arguments: [101, 102, 199])
  func newest(count: Int) throws {
    for number in 1...count {
      let app = number == count ? "99" : "77"
      let line = event(number, "p").replacing("\"77\"", with: "\"\(app)\"")
      try folder.write(line, to: "in/\(1_000 + number).jsonl")
    }
    let text = try NewConfiguration(
      archives: [folder.path("in")], snapshots: [], stop: { 0 }
    ).text
    #expect(text.contains("app 77") && text.contains("app 99"), "\(text.prefix(600))")
  }

  @Test("A path that YAML would misread is quoted")
  func quoted() throws {
    let name = "a: #b\"\\"
    try folder.write(event(1, "p"), to: "\(name)/a.jsonl")
    let new = try NewConfiguration(
      archives: [folder.path(name)], snapshots: [], stop: { 0 })
    #expect(try read(new).job.archives == [folder.path(name)])
  }

  @Test("A new configuration replaces no file, and a missing path is reported")
  func refused() throws {
    try folder.write(event(1, "p"), to: "in/a.jsonl")
    try folder.write(snapshot("u1", "p"), to: "snaps/a.jsonl")
    let new = try new()
    #expect(try new.write(to: folder.path("c.yaml")).contains("qonversion, app 77: 1 event"))
    let error = try #require(throws: SubledgerError.self) {
      try new.write(to: folder.path("c.yaml"))
    }
    #expect(error.kind == .cannotCreate)
    let gone = try #require(throws: SubledgerError.self) {
      try NewConfiguration(archives: [folder.path("gone")], snapshots: [], stop: { 0 })
    }
    #expect(gone.kind == .noInput)
  }

  @Test("A file that is not an archive is counted as not read")
  func foreign() throws {
    try folder.write(event(1, "p"), to: "in/a.jsonl")
    try folder.write(Array("PK\u{3}\u{4}".utf8) + [0, 0, 0, 0], to: "in/b.zip")
    let new = try NewConfiguration(archives: [folder.path("in")], snapshots: [], stop: { 0 })
    #expect(new.text.contains("In the first lines of 1 of 2 files:"))
  }
}
