internal import Foundation
internal import Synchronization

/// A local server that answers each connection once with given bytes.
public final class LocalServer: Sendable {
  /// An answer, and whether the server then closes the connection.
  public struct Answer: Sendable {
    let text: String
    let hangsUp: Bool

    /// Sends `text`, head and body, and closes the connection unless `hangsUp` is false.
    public init(_ text: String, hangsUp: Bool = true) {
      self.text = text
      self.hangsUp = hangsUp
    }
  }

  private let socket: Int32
  private let received = Mutex<[String]>([])
  /// Its address without a trailing slash.
  public let url: String

  /// The received requests in order.
  public var requests: [String] { received.withLock { $0 } }

  /// A server that answers requests with `answer` until it is released.
  public init(_ answer: @escaping @Sendable (String) -> Answer) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let server = socket
    let isOpen = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(server, $0, length) == 0 && listen(server, 64) == 0
          && getsockname(server, $0, &length) == 0
      }
    }
    guard isOpen else { throw POSIXError(.EADDRINUSE) }
    url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    Thread.detachNewThread { [weak self] in
      while true {
        let caller = accept(server, nil, nil)
        guard caller >= 0 else { break }
        let request = Self.request(of: caller)
        self?.received.withLock { $0.append(request) }
        let reply = answer(request)
        _ = reply.text.withCString { send(caller, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        var byte: UInt8 = 0
        if !reply.hangsUp { while recv(caller, &byte, 1, 0) > 0 {} }
        close(caller)
      }
      close(server)
    }
  }

  // The thread closes it, because its number could be reused by then.
  deinit { shutdown(socket, Int32(SHUT_RDWR)) }

  /// The head of a request and as much of the body as it announces.
  private static func request(of caller: Int32) -> String {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let head = text.range(of: "\r\n\r\n") {
        let field = text.lowercased().firstMatch(of: /content-length: (\d+)/)
        let length = field.flatMap { Int($0.1) } ?? 0
        if text[head.upperBound...].utf8.count >= length { return text }
      }
      let count = recv(caller, &part, part.count, 0)
      guard count > 0 else { return text }
      bytes += part[..<count]
    }
  }
}
