import EventStore
import Testing
import Domain

@Suite("Fold groups")
struct GroupTests {
  let ledger: Ledger

  init() throws { ledger = try Ledger.fresh() }

  private func ingest(_ lines: [Line], archive: String = "a") throws {
    try ledger.ingest(archive, lines)
  }

  /// Each group as the originals of its lineages, and the times of its events.
  private func groups(keys: ClosedRange<Int64> = .min ... .max) throws -> [String] {
    var groups: [String] = []
    try ledger.forEachGroup(keys: keys) { rows, events in
      let originals = rows.map(\.original).sorted().joined(separator: "+")
      let times = events.map { String(($0.time.milliseconds - Line.beginning) / 1000) }
      groups.append("\(originals): \(times.joined(separator: " "))")
    }
    return groups.sorted()
  }

  @Test("Lineages of one user form one group, except for Qonversion")
  func oneUser() throws {
    try ingest([
      Line(provider: .iaptic, transaction: "1", original: "1", time: 1),
      Line(provider: .iaptic, transaction: "2", original: "2"),
      Line(provider: .iaptic, transaction: "1", original: "1", time: 3),
      Line(transaction: "3", original: "3"), Line(transaction: "4", original: "4", time: 1),
    ])
    #expect(try groups() == ["1+2: 0 1 3", "3: 0", "4: 1"])
  }

  @Test("Users, apps and providers never share a group")
  func apart() throws {
    try ingest([
      Line(provider: .iaptic, transaction: "1", original: "1"),
      Line(provider: .purple, transaction: "2", original: "2"),
      Line(provider: .iaptic, transaction: "3", original: "3", app: "other"),
      Line(provider: .iaptic, transaction: "4", original: "4", user: "user-2"),
    ])
    #expect(try groups() == ["1: 0", "2: 0", "3: 0", "4: 0"])
  }

  @Test("Lineages without a user form their own groups")
  func nobody() throws {
    try ingest([
      Line(provider: .flobuk, transaction: "1", original: "1", user: ""),
      Line(provider: .flobuk, transaction: "2", original: "2", user: ""),
    ])
    #expect(try groups() == ["1: 0", "2: 0"])
  }

  @Test("A lineage joins its user's group when a later event names the user")
  func namedLater() throws {
    try ingest([Line(provider: .flobuk, transaction: "1", original: "1", user: "")])
    try ingest(
      [
        Line(provider: .flobuk, transaction: "1", original: "1", time: 2),
        Line(provider: .flobuk, transaction: "2", original: "2"),
      ], archive: "b")
    #expect(try groups() == ["1+2: 0 0 2"])
    let row = try #require(
      try ledger.lineages(ofUser: Fingerprint.of("user-1"), provider: .flobuk).first)
    let group = try ledger.group(of: row)
    #expect(group.map(\.original).sorted() == ["1", "2"])
    #expect(try ledger.events(of: group).count == 3)
  }

  @Test("Every group is in exactly one of several key ranges")
  func shares() throws {
    try ingest(
      (0..<40).map {
        Line(
          provider: $0 % 2 == 0 ? .purple : .qonversion, transaction: "\($0)", original: "\($0)",
          user: $0 % 4 == 0 ? "" : "user-\($0 / 3)")
      })
    let cut: Int64 = 1_000_000_000_000_000_000
    let parts =
      try groups(keys: .min ... -cut) + groups(keys: -cut + 1...cut)
      + groups(keys: cut + 1 ... .max)
    #expect(try parts.sorted() == groups())
    #expect(try parts.count == groups().count)
  }
}
