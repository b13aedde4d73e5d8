/// How the program talks on standard error.
public struct LogOptions: Sendable {
  /// How a line looks.
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

  /// How a line looks.
  public private(set) var format = Format.text
  /// Whether to say more.
  public private(set) var isVerbose = false
  /// Whether to say nothing but errors.
  public private(set) var isQuiet = false
  /// When a progress bar is drawn; never when quiet.
  public private(set) var progress = Progress.auto

  /// For a person, and only what they should know.
  public init() {}

  /// What the command line and the environment say, before the configuration is read.
  ///
  /// - Throws: `SubledgerError` of kind `usage` for an option that makes no sense.
  public init(flags: Options, environment: [String: String]) throws(SubledgerError) {
    self.init(try SaidOptions(flags: flags, environment: environment))
  }

  init(_ said: SaidOptions) {
    format = said[\.logFormat].flatMap(Format.init) ?? .text
    isVerbose = said[\.verbose] ?? false
    isQuiet = said[\.quiet] ?? false
    // Whoever can beat the other's word decides between the two; of one mind, quiet is meant.
    if isVerbose, isQuiet { isQuiet = said.depth(of: \.quiet) <= said.depth(of: \.verbose) }
    if isQuiet { isVerbose = false }
    progress = isQuiet ? .never : said[\.progress].flatMap(Progress.init) ?? .auto
  }
}
