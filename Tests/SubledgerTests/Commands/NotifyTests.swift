import Foundation
import TestSupport
import Testing

@Suite("A run reports its end to a hook, which can never fail it")
struct NotifyTests {
  private let program: Program

  init() throws { program = try Program(reading: bodies(3)) }

  private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  private func run(_ url: String, archives: String = "in", _ more: String...) throws
    -> ProgramResult
  {
    try program.run(
      ["run", "--archives", archives, "--as-of", "2026-03-01"] + more,
      environment: ["SUBLEDGER_NOTIFY_URL": url])
  }

  @Test("A hook gets one line of text as JSON, even for a failure")
  func hook() throws {
    let server = try LocalServer { [ok] _ in .init(ok) }
    #expect(try run(server.url + "/hook/secret").status == 0)
    let request = try #require(server.requests.first)
    #expect(request.hasPrefix("POST /hook/secret HTTP/1.1\r\n"))
    #expect(request.contains("Content-Type: application/json\r\n"))
    let body = try #require(request.components(separatedBy: "\r\n\r\n").last)
    let text = try #require(
      try JSONDecoder().decode([String: String].self, from: Data(body.utf8))["text"])
    #expect(text.hasPrefix("subledger ended with exit code 0: reports as of 2026-03-01"), "\(text)")
    let failed = try run(server.url + "/hook/secret", archives: "gone")
    #expect(failed.status == 66 && server.requests.count == 2)
    #expect(server.requests[1].contains("subledger failed with exit code 66: cannot list gone"))
  }

  @Test("A ping is one GET after a published run, and none after a failure")
  func ping() throws {
    let server = try LocalServer { [ok] _ in .init(ok) }
    #expect(try run("ping+\(server.url)/p").status == 0)
    #expect(server.requests.count == 1 && server.requests[0].hasPrefix("GET /p HTTP/1.1\r\n"))
    #expect(try run("ping+\(server.url)/p", archives: "gone").status == 66)
    #expect(try run("ping+\(server.url)/p", "--dry-run").status == 0)
    #expect(server.requests.count == 1)
    // A summary that cannot be written fails the run after it has published.
    let late = try run("ping+\(server.url)/p", "--summary", "gone/s", "--metrics", "m").ended(73)
    #expect(server.requests.count == 2, "\(late)")
    let metrics = try program.text(of: "m")
    #expect(metrics.contains("last_run_exit_code 73\n") && metrics.contains("\nsubledger_lines{"))
    #expect(metrics.contains("\nsubledger_last_success_timestamp_seconds "))
  }

  @Test("A failing server is asked three times, a refusing one once; neither fails the run")
  func misbehaving() throws {
    let answers: [(String, Int)] = [
      ("HTTP/1.1 500 Sorry\r\nContent-Length: 0\r\n\r\n", 3),
      ("HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n", 1),
      ("HTTP/1.1 302 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n", 1),
      ("", 3), ("no HTTP at all\r\n\r\n", 1),
      (
        "HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n"
          + String(repeating: "x", count: 900_000), 1
      ),
    ]
    for (answer, count) in answers {
      let server = try LocalServer { _ in .init(answer) }
      let result = try run(server.url + "/hook/secret").ended(0)
      #expect(server.requests.count == count, "\(answer.prefix(40)) \(server.requests.count)")
      #expect(result.errors.contains("--notify-url did not accept the message"), "\(result)")
      #expect(!result.errors.contains("secret") && !result.errors.contains("127.0.0.1"))
    }
    let flaky = try LocalServer { [ok] _ in .init(ok) }
    let gone = flaky.url.replacing(/:\d+$/, with: ":1")
    #expect(try run(gone).status == 0)
  }

  @Test(
    "A silent server is given up after three tries, without changing the exit code",
    .timeLimit(.minutes(2)), arguments: [("in", 0 as Int32), ("gone", 66)])
  func silent(archives: String, status: Int32) throws {
    let server = try LocalServer { _ in .init("", hangsUp: false) }
    let result = try run(server.url + "/hook/secret", archives: archives).ended(status)
    #expect(result.errors.contains("did not accept the message: Timeout was reached"), "\(result)")
    #expect(server.requests.count == 3)
  }

  @Test("An unsupported address is a usage error that does not print it")
  func address() throws {
    for url in ["ftp://secret/x", "secret", "ping+secret"] {
      let result = try run(url)
      #expect(result.status == 64 && !result.errors.contains("secret"), "\(result)")
    }
  }
}
