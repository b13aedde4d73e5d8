/// What the breaks of a person may be about, for a break keeps only the hash of it.
public struct BreakClues {
  /// Events, by identity.
  public var identities: Set<Int64> = []
  /// The times of those events, in milliseconds since 1970.
  public var times: Set<Int64> = []
  /// Product ids.
  public var products: Set<String> = []

  /// Nothing yet.
  public init() {}
}
