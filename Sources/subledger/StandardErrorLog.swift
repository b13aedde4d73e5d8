import Foundation
import Logging
import Pipeline
import Domain

/// Writes log lines to standard error, as text for people or as JSON for machines.
///
/// Messages can contain foreign names: their invisible characters are escaped.
struct StandardErrorLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .warning
  let format: LogOptions.Format

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let message = "\(event.message)".shown(isWrapped: true)
    let line =
      switch format {
      case .text: "subledger: \(event.level == .error ? "" : "\(event.level): ")\(message)"
      case .json: Self.json(event, message)
      }
    StandardStreams.mention(line + "\n")
  }

  /// The message, its time and level, and what it is about: `code` of an error is the exit code.
  private static func json(_ event: LogEvent, _ message: String) -> String {
    let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    let fields = (event.metadata ?? [:]).mapValues { $0.description.shown(isWrapped: true) }
      .merging(["time": now.text, "level": event.level.rawValue, "message": message]) { $1 }
    let line = JSONValue.object(fields.mapValues(JSONValue.string)).line
    return String(decoding: line, as: UTF8.self)
  }
}
