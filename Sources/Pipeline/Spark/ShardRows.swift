import Domain
import EventStore

/// Adds rows of events and users to a shard.
struct ShardRows {
  private let shard: Shard
  private var coder = EventRows()
  private var batch = EventBatch()
  private var numbers: [Int32] = []
  private var (published, archive): (Int32, Int32) = (0, 0)

  init(_ shard: Shard) { self.shard = shard }

  /// Adds a row: kind, last archive published before, archive, number and content.
  mutating func add(_ fields: [Substring], number: Int) throws {
    guard fields.count == 5, let published = Int32(fields[1]), let archive = Int32(fields[2]),
      let place = Int32(fields[3])
    else { throw malformedRow(number, "kind, published, archive, number and content are expected") }
    switch fields[0] {
    case "user":
      guard let user = Int64(fields[4]) else { throw malformedRow(number, "no user") }
      try shard.add(user: user)
    case "event":
      if (published, archive) != (self.published, self.archive) || numbers.count >= 1_024 {
        try flush()
        (self.published, self.archive) = (published, archive)
      }
      numbers.append(place)
      guard coder.decode(fields[4], into: &batch) else {
        throw malformedRow(number, "its content is not an event")
      }
    default: throw malformedRow(number, "it is neither an event nor a user")
    }
  }

  /// Completes the shard.
  mutating func finish(keepsSnapshots: Bool) throws {
    try flush()
    try shard.finish(keepsSnapshots: keepsSnapshots)
  }

  private mutating func flush() throws {
    guard !numbers.isEmpty else { return }
    try shard.add(batch, of: archive, numbers: numbers, published: published)
    (batch, numbers) = (EventBatch(), [])
  }
}
