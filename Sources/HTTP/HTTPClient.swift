internal import CCurl
public import Domain

/// Sends any number of concurrent requests from one thread.
///
/// Uses the proxies of the variables `https_proxy`, `http_proxy` and `no_proxy`, and keeps
/// connections for further requests. Does not follow redirects: another server would receive the
/// headers and their secrets.
public final class HTTPClient {
  /// A file with trusted certificate authorities; nil for the system's.
  private let authorities: String?
  private let secondsMax: Int
  private let bytesMax: Int
  private let curl: curl_library
  private let multi: UnsafeMutableRawPointer
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

  private static let library = curl_load()

  /// A client whose requests are limited to `secondsMax` and `bytesMax` each.
  ///
  /// - Parameter authorities: a file of certificates (PEM) instead of the system's.
  /// - Throws: `SubledgerError` of kind `configuration` if libcurl is not installed.
  public init(
    authorities: String? = nil, secondsMax: Int = 30, bytesMax: Int = 16 << 20
  ) throws(SubledgerError) {
    curl = Self.library
    guard curl.is_loaded != 0, let multi = curl.multi_init() else {
      throw SubledgerError(
        .configuration, "cannot call a server: libcurl 7.66 or newer is not installed",
        hint: "install it: apt-get install libcurl4")
    }
    self.multi = multi
    self.authorities = authorities
    self.secondsMax = secondsMax
    self.bytesMax = bytesMax
  }

  deinit {
    for handle in transfers.keys { end(handle) }
    _ = curl.multi_cleanup(multi)
  }

  /// Sends one request and waits for its response.
  public func send(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
    start(request, as: 0)
    while true {
      if let result = finished(within: 1000).first { return try result.response.get() }
    }
  }

  /// Starts a request; `finished` returns `number` with its response.
  public func start(_ request: HTTPRequest, as number: Int) {
    guard let handle = curl.easy_init() else { preconditionFailure("no memory for a request") }
    let transfer = Transfer(number: number, bytesMax: bytesMax)
    transfers[handle] = transfer
    let httpAndHTTPS = 3
    set(CURLOPT_PROTOCOLS, httpAndHTTPS, handle)
    set(CURLOPT_NOSIGNAL, 1, handle)
    // A path segment can be an id such as `..`.
    set(CURLOPT_PATH_AS_IS, 1, handle)
    set(CURLOPT_TIMEOUT_MS, secondsMax * 1000, handle)
    set(CURLOPT_CONNECTTIMEOUT_MS, min(secondsMax, 10) * 1000, handle)
    set(CURLOPT_URL, request.url, handle)
    set(CURLOPT_CUSTOMREQUEST, request.method, handle)
    set(CURLOPT_ACCEPT_ENCODING, "", handle)
    if let authorities { set(CURLOPT_CAINFO, authorities, handle) }
    if let body = request.body {
      set(CURLOPT_POSTFIELDSIZE, body.count, handle)
      _ = body.withUnsafeBytes {
        curl_set_pointer(curl, handle, Int32(CURLOPT_COPYPOSTFIELDS), $0.baseAddress)
      }
    }
    // Without this header, curl would declare the body to be a form.
    for (name, value) in [("Content-Type", "application/json")] + request.headers {
      transfer.headers = curl.slist_append(transfer.headers, "\(name): \(value)")
    }
    _ = curl_set_pointer(curl, handle, Int32(CURLOPT_HTTPHEADER), transfer.headers)
    _ = curl_set_pointer(
      curl, handle, Int32(CURLOPT_WRITEDATA), Unmanaged.passUnretained(transfer).toOpaque())
    _ = curl_set_write(curl, handle) { bytes, size, count, transfer in
      Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue()
        .take(UnsafeRawBufferPointer(start: bytes, count: Int(size * count)))
    }
    _ = curl.multi_add_handle(multi, handle)
  }

  /// The finished requests, with the numbers that they were started with.
  ///
  /// Waits at most `milliseconds` for the first.
  public func finished(
    within milliseconds: Int
  ) -> [(number: Int, response: Result<HTTPResponse, HTTPFailure>)] {
    var running: Int32 = 0
    _ = curl.multi_perform(multi, &running)
    if Int(running) == transfers.count {
      _ = curl.multi_poll(multi, nil, 0, Int32(milliseconds), nil)
      _ = curl.multi_perform(multi, &running)
    }
    var ended: [(number: Int, response: Result<HTTPResponse, HTTPFailure>)] = []
    while let message = curl.multi_info_read(multi, &running)?.pointee {
      guard let transfer = transfers[message.transfer] else { continue }
      ended.append((transfer.number, response(of: message, transfer)))
      end(message.transfer)
    }
    return ended
  }

  private func response(
    of message: curl_message, _ transfer: Transfer
  ) -> Result<HTTPResponse, HTTPFailure> {
    if transfer.isTooLong {
      return .failure(
        HTTPFailure(reason: "the response is longer than \(bytesMax) bytes", isTransient: false))
    }
    let result = message.data.result
    guard result == 0 else {
      let proxied = curl_number(curl, message.transfer, Int32(CURLINFO_HTTP_CONNECTCODE))
      let isRefused = 400..<500 ~= proxied
      let isLasting = isRefused || Self.lasting.contains(result)
      return .failure(
        HTTPFailure(
          reason: isRefused
            ? "the proxy answered \(proxied)" : String(cString: curl.easy_strerror(result)),
          isTransient: !isLasting, isOfServer: isLasting))
    }
    let wait = curl_number(curl, message.transfer, Int32(CURLINFO_RETRY_AFTER))
    return .success(
      HTTPResponse(
        status: curl_number(curl, message.transfer, Int32(CURLINFO_RESPONSE_CODE)),
        retryAfter: wait > 0 ? wait : nil, body: transfer.body))
  }

  /// libcurl results that a retry cannot fix: other scheme, malformed address, untrusted
  /// certificate, or missing file of authorities.
  private static let lasting: Set<Int32> = [1, 3, 60, 77]

  private func end(_ handle: UnsafeMutableRawPointer) {
    _ = curl.multi_remove_handle(multi, handle)
    curl.easy_cleanup(handle)
    curl.slist_free_all(transfers.removeValue(forKey: handle)?.headers)
  }

  private func set(_ option: Int, _ value: Int, _ handle: UnsafeMutableRawPointer) {
    _ = curl_set_number(curl, handle, Int32(option), value)
  }

  private func set(_ option: Int, _ value: String, _ handle: UnsafeMutableRawPointer) {
    _ = value.withCString { curl_set_pointer(curl, handle, Int32(option), $0) }
  }
}

private final class Transfer {
  let number: Int
  private let bytesMax: Int
  /// libcurl's list, which must outlive the request.
  var headers: UnsafeMutableRawPointer?
  private(set) var body: [UInt8] = []
  private(set) var isTooLong = false

  init(number: Int, bytesMax: Int) {
    self.number = number
    self.bytesMax = bytesMax
  }

  /// Appends received bytes; if the result differs from their count, libcurl ends the request.
  func take(_ bytes: UnsafeRawBufferPointer) -> UInt {
    isTooLong = body.count + bytes.count > bytesMax
    guard !isTooLong else { return 0 }
    body += bytes
    return UInt(bytes.count)
  }
}
