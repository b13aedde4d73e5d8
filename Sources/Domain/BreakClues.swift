/// What the breaks of a person may be about, for a break keeps only the hash of it.
public struct BreakClues {
  /// Events, by identity.
  public var identities: Set<Int64> = []
  /// The times of those events.
  public var times: Set<Instant> = []
  /// The ends of periods that they tell.
  public var ends: Set<Instant> = []
  /// Product ids.
  public var products: Set<String> = []

  /// Nothing yet.
  public init() {}
}
