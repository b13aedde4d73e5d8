// Many concurrent HTTP requests in bounded memory:
//
//     HTTPRequest ─ HTTPClient ─▶ HTTPResponse, or HTTPFailure
//
// libcurl does the work: proxies, certificates, timeouts, compression, HTTP/2.

/// A request to a server.
public struct HTTPRequest: Sendable {
  /// `GET`, `POST`, and so on.
  public var method: String
  /// The whole URL; only `http://` and `https://` are allowed.
  public var url: String
  /// Names and values; values can be secrets, so no message contains one.
  public var headers: [(name: String, value: String)]
  /// Sent after the headers; nil sends no body.
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

/// A server's response; redirects are not followed but returned.
public struct HTTPResponse: Sendable, Equatable {
  /// The HTTP status, such as 200.
  public var status: Int
  /// Seconds to wait by `Retry-After`, which may be a number or a date; nil without it.
  public var retryAfter: Int?
  /// The whole body, decompressed.
  public var body: [UInt8]
}

/// Why there is no complete response.
public struct HTTPFailure: Error, Sendable, Equatable {
  /// The cause as libcurl reports it, without address, headers and body.
  public var reason: String
  /// Whether the same request may succeed later: not with a wrong address or certificate.
  public var isTransient: Bool
  /// Whether every request to this server fails for the same cause, such as its certificate or a
  /// proxy.
  public var isOfServer = false
}
