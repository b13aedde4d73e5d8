/// How far a feed reaches, and since when.
public struct Watermark: Sendable, Equatable {
  /// The feed.
  public var feed: Feed
  /// Its app id as text; not stored.
  public var app: String
  /// The newest received, or else created, or else event time that is not after as-of.
  public var newest: Instant
  /// When the feed began; nothing before it is considered missing.
  public var begin: Instant
  /// How long the feed may be silent before its input is stale.
  public var gapMax: Interval
  /// Time before which an arrival is not part of the feed, nil if all are late enough; not stored.
  public var trustedFrom: Instant?

  /// The watermark of `feed`, by default with the least allowed gap.
  public init(
    of feed: Feed, app: String = "", newest: Instant, begin: Instant,
    gapMax: Interval = FeedRhythm.gapLeast, trustedFrom: Instant? = nil
  ) {
    (self.feed, self.app, self.newest, self.begin) = (feed, app, newest, begin)
    (self.gapMax, self.trustedFrom) = (gapMax, trustedFrom)
  }
}
