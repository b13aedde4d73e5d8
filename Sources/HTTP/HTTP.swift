// Requests over HTTP → responses, many at once, in bounded memory:
//
//     HTTPRequest ─ HTTPClient ─▶ HTTPResponse, or HTTPFailure
//
// libcurl does the work: proxies, certificates, timeouts, compression, HTTP/2.

/// What to ask a server.
public struct HTTPRequest: Sendable {
  /// `GET`, `POST` and so on.
  public var method: String
  /// From `http://` or `https://` on; no other scheme is called.
  public var url: String
  /// Names and values; a value can be a secret, and no message contains one.
  public var headers: [(name: String, value: String)]
  /// What is sent behind the headers; nil sends nothing.
  public var body: [UInt8]?

  /// A request with `method` for `url`.
  public init(
    _ method: String = "GET", _ url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// What a server answered; of a redirect, which is not followed, the redirect itself.
public struct HTTPResponse: Sendable, Equatable {
  /// 200 and so on.
  public var status: Int
  /// The seconds to wait that `Retry-After` asks for, as a number or a date; nil without it.
  public var retryAfter: Int?
  /// The whole body, unpacked.
  public var body: [UInt8]
}

/// Why there is no whole response.
public struct HTTPFailure: Error, Sendable, Equatable {
  /// The cause in libcurl's words, without address, header and body.
  public var reason: String
  /// Whether the same request may succeed later: not with a wrong address or certificate.
  public var isTransient: Bool
  /// Whether every request to the server fails so, because of its certificate or of a proxy.
  public var isOfServer = false
}
