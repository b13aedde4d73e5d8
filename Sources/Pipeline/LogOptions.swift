/// What standard error shows.
public struct LogOptions: Sendable {
  /// The format of a line.
  public enum Format: String, CaseIterable, Sendable {
    /// For a person.
    case text
    /// An object for a machine.
    case json
  }

  /// When a progress bar is drawn.
  public enum Progress: String, CaseIterable, Sendable {
    /// On a terminal only.
    case auto
    /// Whatever standard error is.
    case always
    /// Not at all.
    case never
  }

  /// The format of a line.
  public var format = Format.text
  /// Whether to show more; `isQuiet` overrides it.
  public var isVerbose = false
  /// Whether to show only errors.
  public var isQuiet = false
  /// When a progress bar is drawn.
  public var progress = Progress.auto

  /// Text for people, warnings and errors only.
  public init() {}
}
