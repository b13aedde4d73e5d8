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

  init(format: LogOptions.Format) { self.format = format }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let message = "\(event.message)".shown(isWrapped: true)
    let line =
      switch format {
      case .text: "subledger: \(event.level == .error ? "" : "\(event.level): ")\(message)"
      case .json: Self.json(level: event.level, message)
      }
    StandardStreams.mention(line + "\n")
  }

  private static func json(level: Logger.Level, _ message: String) -> String {
    let fields = ["level": level.rawValue, "message": message].mapValues(JSONValue.string)
    return String(decoding: JSONValue.object(fields).line, as: UTF8.self)
  }
}
