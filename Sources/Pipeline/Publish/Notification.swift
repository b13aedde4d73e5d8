import Glibc
import HTTP
import Logging
public import Domain

extension RunPipeline {
  private static let attempts = 3
  private static let secondsMax = 10
  private static let pingPrefix = "ping+"

  /// Reports the result of a run to the addresses in the settings; a failure to do so is a warning.
  ///
  /// A hook receives `{"text": "…"}`, the format of chats. An address that begins with `ping+`
  /// receives a GET request only when the run published: a service that misses it raises the alarm.
  ///
  /// - Parameters:
  ///   - result: what the run published, even if it then failed; nil if nothing.
  ///   - error: why the run failed; nil when it did not.
  public func notify(of result: RunResult?, _ error: SubledgerError?, exitCode: Int32) {
    guard let url = plan.notifyURL, !plan.isDryRun else { return }
    let isPing = url.hasPrefix(Self.pingPrefix)
    guard !isPing || result?.summary != nil else { return }
    var request = HTTPRequest("GET", String(url.dropFirst(isPing ? Self.pingPrefix.count : 0)))
    if !isPing {
      let state =
        error.map { "failed with exit code \(exitCode): \($0.message)" }
        ?? "ended with exit code \(exitCode): \(result?.summary?.line ?? "")"
      let text = "subledger \(state)".shown()
      request.method = "POST"
      request.body = JSONValue.object(["text": .string(text)]).line
    }
    let reason: String?
    do {
      let client = try HTTPClient(secondsMax: Self.secondsMax, bytesMax: 1 << 16)
      reason = failure(of: request, by: client)
    } catch {
      reason = error.message
    }
    guard let reason else { return }
    log.warning(
      "the address of --notify-url did not accept the message: \(reason)",
      metadata: ["code": "notify_failed"])
  }

  /// Sends a request until the server accepts it; returns why it does not, nil when it does.
  private func failure(of request: HTTPRequest, by client: HTTPClient) -> String? {
    var reason = ""
    for attempt in 1...Self.attempts {
      var wait = attempt
      do {
        let response = try client.send(request)
        if 200..<300 ~= response.status { return nil }
        reason = "the server answered \(response.status)"
        guard response.status >= 500 || [408, 429].contains(response.status) else { return reason }
        wait = min(response.retryAfter ?? wait, Self.secondsMax)
      } catch {
        reason = error.reason
        guard error.isTransient else { return reason }
      }
      guard attempt < Self.attempts, stop() == 0 else { break }
      sleep(UInt32(wait))
    }
    return reason
  }
}
