/// The output on standard error.
public struct LogOptions: Sendable {
  /// The format of a line.
  public enum Format: String, CaseIterable, Sendable {
    /// Text for a person.
    case text
    /// One JSON object per line, for a machine.
    case json
  }

  /// When a progress bar is drawn.
  public enum Progress: String, CaseIterable, Sendable {
    /// Only on a terminal.
    case auto
    /// Always.
    case always
    /// Never.
    case never
  }

  /// The format of a line.
  public var format = Format.text
  /// Whether to show more messages; `isQuiet` overrides it.
  public var isVerbose = false
  /// Whether to show only errors.
  public var isQuiet = false
  /// When a progress bar is drawn.
  public var progress = Progress.auto

  /// Creates the default options: text for people, only warnings and errors.
  public init() {}
}
