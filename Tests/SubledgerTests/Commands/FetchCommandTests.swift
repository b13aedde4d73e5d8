import Foundation
import TestSupport
import Testing

@Suite("Fetching users' current state from providers as snapshots")
struct FetchCommandTests {
  private let program: Program

  init() throws { program = try Program() }

  private static func reply(_ status: Int, _ body: String) -> LocalServer.Answer {
    LocalServer.Answer(
      "HTTP/1.1 \(status) x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  /// A server with the users `QON_1` and `QON_2`; the first has renewed.
  private static func provider() throws -> LocalServer {
    try LocalServer { request in
      let path = request.split(separator: " ")[1]
      guard ["/QON_1/", "/QON_2/"].contains(where: path.contains) else {
        return reply(404, #"{"error":{"code":"not_found"}}"#)
      }
      guard path.contains("/QON_1/purchases") else {
        return reply(200, #"{"object":"list","data":[],"has_more":false}"#)
      }
      let item = { (id: String, from: String, to: String) in
        #"{"id":"\#(id)","platform":"app_store","product_id":"com.example.pro.monthly","#
          + #""purchased_at":"\#(from)","expires_at":"\#(to)","is_auto_renewing":true,"#
          + #""store_data":{"transaction_id":"\#(id)","#
          + #""original_transaction_id":"2000000900000001"}}"#
      }
      // `starting_after` asks for the purchase after the first page.
      let isFirst = !path.contains("starting_after=2000000900000002")
      let purchase =
        isFirst
        ? item("2000000900000002", "2026-03-27T12:00:00Z", "2026-04-27T12:00:00Z")
        : item("2000000900000001", "2026-02-27T12:00:00Z", "2026-03-27T12:00:00Z")
      return reply(200, #"{"data":[\#(purchase)],"has_more":\#(isFirst)}"#)
    }
  }

  private func configure(
    _ server: LocalServer, _ source: String = "", more: String = ""
  ) throws {
    try program.folder.write(
      "fetch: {rate: 1000, qonversion: {url: '\(server.url)', key: {env: KEY}\(source)}}\n" + more,
      to: "subledger.yaml")
  }

  private func fetch(_ arguments: String...) throws -> ProgramResult {
    let result = try program.run(
      ["fetch"] + arguments + ["--snapshots", "snap"], environment: ["KEY": "canary-key"])
    for (name, bytes) in try filesAndBytes(under: program.folder.path) {
      #expect(bytes.range(of: Data("canary".utf8)) == nil, "the key in \(name)")
    }
    #expect(!result.output.contains("canary") && !result.errors.contains("canary"))
    return result
  }

  private func run(asOf: String? = nil, _ more: String...) throws {
    try program.run(
      ["run", "--archives", "in", "--snapshots", "snap"] + more
        + (asOf.map { ["--as-of", $0] } ?? []),
      environment: ["KEY": "canary-key"]
    ).ended(0, 1)
  }

  private func arrives(_ count: Int) throws {
    try program.folder.write(bodies(count), to: "in/a.jsonl")
    try FileManager.default.createDirectory(
      atPath: program.folder.path("snap"), withIntermediateDirectories: true)
    try run(asOf: "2026-03-01")
  }

  private func fetched(_ ending: String = ".jsonl.gz") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: program.folder.path("snap"))
      .filter { $0.hasSuffix(ending) }.map { program.folder.path("snap/\($0)") }
  }

  @Test("Each user has one line per list, complete over its pages, and an import accepts all")
  func snapshots() throws {
    try arrives(3)
    let server = try Self.provider()
    try configure(server)
    let result = try fetch("snapshots")
    #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
    #expect(server.requests.allSatisfy { $0.contains("Authorization: Bearer canary-key\r\n") })
    let file = try #require(try fetched().first)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let lines = String(decoding: try output(of: ["zcat", file]), as: UTF8.self)
      .split(separator: "\n")
    #expect(lines.count == 4)
    let whole = lines.filter {
      $0.contains(#"000001","platform"#) && $0.contains(#"000002","platform"#)
    }
    #expect(whole.count == 1)
    let failed = try readCSV(try #require(try fetched("-failed.csv").first))
    #expect(failed.map { "\($0["user_id"] ?? "") \($0["status"] ?? "")" } == ["QON_3 404"])

    try run()
    // The two empty lists of QON_2 are one snapshot.
    let status = try program.run(["status"]).output
    #expect(status.contains(#/snapshots +1 +0 +0 +4 +3 +1 +0 +0/#), "\(status)")
    #expect(try program.rows("breaks.csv").contains { $0["code"] == "MISSED_RENEWAL" })
  }

  @Test("Answers from before an interruption are not requested again")
  func failure() throws {
    try arrives(1)
    let path = program.folder.path("open")
    let server = try LocalServer { request in
      let isAnswered = !request.contains("/purchases") || access(path, F_OK) == 0
      return Self.reply(isAnswered ? 200 : 401, #"{"data":[],"has_more":false}"#)
    }
    try configure(server)
    #expect(try fetch("snapshots").status == 77)
    try program.folder.write("", to: "open")
    #expect(try fetch("snapshots").status == 0)
    let asked = server.requests.map { $0.split(separator: " ")[1].split(separator: "/").last ?? "" }
    #expect(asked == ["entitlements", "purchases", "purchases"])
    let file = try #require(try fetched().first)
    let lines = String(decoding: try output(of: ["zcat", file]), as: UTF8.self)
    let times = lines.matches(of: /"captured_at":"([^"]*)"/).map(\.1)
    #expect(times.count == 2 && Set(times).count == 1, "\(lines)")
  }

  @Test("A stopped fetch reports itself, and not that archives were read")
  func stopped() throws {
    try arrives(1)
    let asked = program.folder.path("asked")
    let server = try LocalServer { _ in
      _ = FileManager.default.createFile(atPath: asked, contents: nil)
      usleep(500_000)
      return Self.reply(200, #"{"data":[],"has_more":false}"#)
    }
    try configure(server)
    let script =
      #""$0" fetch snapshots --snapshots snap 2> words & p=$!; "#
      + "while [ ! -e asked ]; do sleep 0.01; done; kill -TERM $p; wait $p"
    let ended = try execute(
      ["env", "KEY=key", "sh", "-c", script, Program.binary.path], in: program.folder.path)
    let words = try program.text(of: "words")
    #expect(ended.status == 143 && words.contains("fetching from qonversion was stopped by signal"))
    #expect(!words.contains("archives"), "\(words)")
  }

  @Test("If a start time is given, only users with events since then are asked about")
  func changed() throws {
    try arrives(2)
    let server = try Self.provider()
    try configure(server, ", api: v4_entitlements")
    #expect(try fetch("snapshots", "--changed-since", "2026-02-27T12:00:01Z").status == 0)
    #expect(server.requests.isEmpty)
    #expect(try fetch("snapshots", "--changed-since", "2026-02-27T12:00:00Z").status == 0)
    #expect(server.requests.count == 2)
  }

  @Test("Only users of the worklist are fetched")
  func worklist() throws {
    try program.folder.write("freshness_max: 36500d\n", to: "subledger.yaml")
    try program.folder.write(Body(2, at: 1_774_872_000).line + "\n", to: "in/b.jsonl")
    try program.folder.write(
      #"{"user_id":"QON_1","captured_at":"2026-03-28T00:00:00Z","data":[{"#
        + #""platform":"app_store","product_id":"com.example.pro.monthly","#
        + #""purchased_at":"2026-03-27T12:00:00Z","expires_at":"2026-04-27T12:00:00Z","#
        + #""store_data":{"transaction_id":"2000000900000002","#
        + #""original_transaction_id":"2000000900000001"}}]}"#,
      to: "snap/a.jsonl")
    try arrives(1)
    try run(asOf: "2026-03-31")
    let rows = try program.rows("refetch_worklist.csv")
    #expect(rows.map { $0["user_id"] } == ["QON_2"])
    #expect(rows.map { $0["fetched_at"] } == [""])
    let server = try Self.provider()
    try configure(server, more: "freshness_max: 36500d\n")
    #expect(try fetch("worklist").status == 0)
    #expect(server.requests.count == 2)
    #expect(server.requests.allSatisfy { $0.contains("/QON_2/") })
    _ = try program.run(["ingest", "--archives", "in", "--ledger", "other.sqlite"])
    let other = try fetch("worklist", "--ledger", "other.sqlite")
    #expect(other.status == 64 && other.errors.contains("not one of the ledger other.sqlite"))
    try run(asOf: "2090-01-01")
    let fetched = try program.rows("refetch_worklist.csv").filter { $0["user_id"] == "QON_2" }
    #expect(!fetched.isEmpty && fetched.allSatisfy { $0["fetched_at"] != "" }, "\(fetched)")
  }

  @Test("FLOBUK is not asked about users whose app is in no archive")
  func namelessApp() throws {
    let body = { (id: Int, user: String) in
      #"{"transaction":"\#(id)","store":"AppleAppStore","user":"\#(user)","#
        + #""timestamp":1772193600,"data":{"productId":"pro","type":"Non-Consumable"}}"#
    }
    try program.folder.write(
      #"{"headers":{"X-App-Id":"app1"},"body":\#(body(1, "u1"))}"# + "\n" + body(2, "u2") + "\n",
      to: "in/f.jsonl")
    try arrives(0)
    let server = try LocalServer { _ in Self.reply(200, #"{"purchases":[]}"#) }
    try program.folder.write(
      "fetch: {flobuk: {url: '\(server.url)'}}\n", to: "subledger.yaml")
    let result = try fetch("snapshots")
    #expect(server.requests.map { $0.prefix(20) } == ["GET /v1/user/app1/u1"])
    #expect(result.errors.contains("1 user of flobuk not asked about"), "\(result)")
  }

  @Test("`run --fetch` asks about new users once, and about those with new events")
  func due() throws {
    try arrives(1)
    let server = try Self.provider()
    try configure(server, ", api: v3")
    try run("--fetch")
    #expect(server.requests.map { $0.prefix(34) } == ["GET /v3/users/QON_1/entitlements H"])
    try run("--fetch")
    #expect(server.requests.count == 1)
    try program.folder.write(Body(2).line + "\n", to: "in/b.jsonl")
    try run("--fetch")
    #expect(server.requests.count == 2)
    #expect(try fetched().count == 2)
  }

  @Test("A refused key ends the fetch with 77, and `run --fetch` still publishes, with 1")
  func refused() throws {
    try arrives(2)
    let server = try LocalServer { _ in Self.reply(401, "{}") }
    try configure(server)
    let result = try fetch("snapshots").ended(77)
    #expect(result.errors.contains("it refused the key with status 401"))
    let run = try program.run(
      ["run", "--fetch", "--archives", "in", "--snapshots", "snap"],
      environment: ["KEY": "canary-key"])
    #expect(run.status == 1 && run.errors.contains("refused the key"), "\(run)")
    #expect(try fetched().isEmpty)
  }

  @Test(
    "A configuration without a usable key is refused",
    arguments: [
      ("qonversion: {key: {env: NONE}}", "is not set"),
      ("qonversion: {url: 'https://x'}", "no key"),
      ("iaptic: {key: {env: KEY}}", "APP:KEY"), ("qonversion: {key: 'sk_canary'}", "name the key"),
      ("flobuk: {key: {env: KEY}}", "unknown key"), ("purple: {url: 'https://x'}", "unknown key"),
      ("iaptic: {key: {credential: k}}", "given none"), ("qonversion: {url: 'ftp://x'}", "https"),
      ("iaptic: {api: v3}", "unknown key"), ("rate: 0", "1 to 10000"),
    ])
  func configurations(text: String, expected: String) throws {
    try arrives(1)
    try program.folder.write("fetch: {\(text)}\n", to: "subledger.yaml")
    let result = try program.run(
      ["fetch", "snapshots", "--snapshots", "snap"], environment: ["KEY": "canary-key"]
    ).ended(78)
    #expect(result.errors.contains(expected) && !result.errors.contains("canary"), "\(result)")
  }

  @Test("A key can be a credential of systemd")
  func credential() throws {
    try arrives(1)
    let server = try Self.provider()
    try program.folder.write("canary-key\n", to: "credentials/k")
    try program.folder.write(
      "fetch: {qonversion: {url: '\(server.url)', key: {credential: k}}}\n", to: "subledger.yaml")
    try program.run(
      ["fetch", "snapshots", "--to", "new/folder"],
      environment: ["CREDENTIALS_DIRECTORY": program.folder.path("credentials")]
    ).ended(0)
    #expect(server.requests.allSatisfy { $0.contains("Bearer canary-key\r\n") })
  }

  @Test("Nothing is fetched into an object store or standard input, but into the next folder")
  func noFolder() throws {
    try arrives(1)
    let server = try Self.provider()
    try configure(server)
    let fetch = ["fetch", "snapshots"]
    let settings = ["KEY": "canary-key"]
    for place in [["--to", "-"], ["--snapshots", "-"]] {
      let refused = try program.run(fetch + place, environment: settings).ended(64)
      #expect(refused.errors.contains("a folder of this machine"), "\(refused)")
    }
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("-")))
    #expect(server.requests.isEmpty)
    try program.run(fetch + ["--snapshots", "-", "snap"], environment: settings).ended(0)
    #expect(try fetched().count == 1)
  }
}
