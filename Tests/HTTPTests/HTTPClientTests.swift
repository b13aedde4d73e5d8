import HTTP
import TestSupport
import Testing

@Suite("A server's responses arrive complete or as failures")
struct HTTPClientTests {
  private func answer(
    _ text: String, hangsUp: Bool = true, secondsMax: Int = 10, bytesMax: Int = 1000
  ) throws -> Result<HTTPResponse, HTTPFailure> {
    let server = try LocalServer { _ in LocalServer.Answer(text, hangsUp: hangsUp) }
    let client = try HTTPClient(secondsMax: secondsMax, bytesMax: bytesMax)
    let request = HTTPRequest("GET", server.url + "/a", headers: [("Authorization", "Basic key")])
    return Result { () throws(HTTPFailure) in try client.send(request) }
  }

  @Test("Status, Retry-After and body are returned")
  func whole() throws {
    let text = "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 5\r\n\r\nagain"
    let response = try answer(text).get()
    #expect(response.status == 429)
    #expect(response.retryAfter == 7)
    #expect(String(decoding: response.body, as: UTF8.self) == "again")
  }

  @Test("Method, headers and body reach the server")
  func request() throws {
    let server = try LocalServer { _ in
      LocalServer.Answer("HTTP/1.1 204 None\r\nContent-Length: 0\r\n\r\n")
    }
    let response = try HTTPClient().send(
      HTTPRequest(
        "POST", server.url + "/hook?a=1", headers: [("X-Key", "k")], body: Array("{}".utf8)))
    #expect(response.status == 204)
    #expect(response.retryAfter == nil)
    let request = try #require(server.requests.first)
    #expect(request.hasPrefix("POST /hook?a=1 HTTP/1.1\r\n"))
    #expect(request.contains("\r\nX-Key: k\r\n"))
    #expect(request.contains("\r\nContent-Type: application/json\r\n"))
    #expect(request.hasSuffix("\r\n\r\n{}"))
  }

  @Test(
    "A truncated body, no response and a silent server are transient failures",
    arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1,2", "", "HTTP/1.1 200 OK\r\n"])
  func torn(text: String) throws {
    let isSilent = text == "HTTP/1.1 200 OK\r\n"
    let failure = #expect(throws: HTTPFailure.self) {
      try answer(text, hangsUp: !isSilent, secondsMax: 1).get()
    }
    #expect(failure?.isTransient == true)
  }

  @Test("A body of the maximum length is returned; one byte more is a permanent failure")
  func limit() throws {
    let head = "HTTP/1.1 200 OK\r\n\r\n"
    #expect(try answer(head + "12345", bytesMax: 5).get().body.count == 5)
    let failure = #expect(throws: HTTPFailure.self) {
      try answer(head + "123456", bytesMax: 5).get()
    }
    #expect(failure?.isTransient == false)
    #expect(failure?.reason.contains("5 bytes") == true)
    #expect(failure?.isOfServer == false)
  }

  @Test("A redirect is not followed, so that no other server receives the key")
  func redirect() throws {
    let text = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    #expect(try answer(text).get().status == 302)
  }

  @Test(
    "A bad URL fails without appearing in the error", arguments: ["file:///etc/passwd", "://"])
  func wrong(url: String) throws {
    let failure = #expect(throws: HTTPFailure.self) {
      try HTTPClient().send(HTTPRequest("GET", url))
    }
    #expect(failure?.isTransient == false && failure?.isOfServer == true)
    #expect(failure?.reason.contains(url) == false)
  }

  @Test("A refused connection is a transient failure")
  func refused() throws {
    let failure = #expect(throws: HTTPFailure.self) {
      try HTTPClient().send(HTTPRequest("GET", "http://127.0.0.1:1/"))
    }
    #expect(failure?.isTransient == true && failure?.isOfServer == false)
  }

  @Test("Concurrent requests each get their own response")
  func many() throws {
    let server = try LocalServer { request in
      let path = request.split(separator: " ")[1]
      return LocalServer.Answer("HTTP/1.1 200 OK\r\n\r\n\(path)")
    }
    let client = try HTTPClient()
    for number in 1...50 { client.start(HTTPRequest("GET", "\(server.url)/\(number)"), as: number) }
    var bodies: [Int: String] = [:]
    while bodies.count < 50 {
      for (number, response) in client.finished(within: 1000) {
        bodies[number] = String(decoding: try response.get().body, as: UTF8.self)
      }
    }
    #expect(bodies == Dictionary(uniqueKeysWithValues: (1...50).map { ($0, "/\($0)") }))
  }
}
