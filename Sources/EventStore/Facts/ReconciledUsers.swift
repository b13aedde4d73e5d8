public import Domain

/// The result of comparing a user's events with snapshots, as far as later runs need it.
public struct ReconciledUser: Codable, Sendable, Equatable {
  /// The provider.
  public let provider: Provider
  /// Key of the user.
  public let user: Int64
  /// Fingerprint of the content of the user's snapshots, `UserSnapshots.content`; 0 without any.
  public let snapshots: Int64
  /// A snapshot with the same content, captured at or before this time, gives the same result; nil
  /// when the user must be compared in every run.
  public let validUntil: Instant?
  /// The details, nil for most users; layout: `Details.code`.
  let bytes: [UInt8]?

  /// The part of the result that few users have.
  public struct Details: Sendable, Equatable {
    /// Lineages of other users that the snapshot lists.
    public var foreign: [Int64] = []
    /// Keys of lineages that the snapshot lists and no event has reported.
    public var unreported: [Int64] = []
    /// Fingerprints of other users in the events of the user's lineages.
    public var previousOwners: [Int64] = []
    /// Numbers for the manifest, in an order that the caller defines.
    public var counts: [Int64] = []

    /// Creates empty details.
    public init() {}
  }

  /// Creates the result for a user.
  public init(
    provider: Provider, user: Int64, snapshots: Int64, validUntil: Instant?, details: Details
  ) {
    (self.provider, self.user) = (provider, user)
    (self.snapshots, self.validUntil) = (snapshots, validUntil)
    guard details != Details() else {
      bytes = nil
      return
    }
    var writer = ByteWriter()
    writer.put(details)
    bytes = writer.bytes
  }

  init(_ row: Statement) throws(SubledgerError) {
    provider = try row.value(0)
    user = row.int64(1)
    snapshots = row.int64(2)
    validUntil = row.optionalInstant(3)
    bytes = row.isNull(4) ? nil : [UInt8](row.blob(4))
  }

  /// Decodes the details, empty if none are stored; throws `SubledgerError` for content that no run
  /// wrote.
  public func details() throws(SubledgerError) -> Details {
    var details = Details()
    guard let bytes else { return details }
    let isSound = bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      reader.read(&details)
      return reader.isSound
    }
    guard isSound else { throw SubledgerError.damaged("the result of a user's reconciliation") }
    return details
  }
}

extension ReconciledUser.Details: FieldRecord {
  mutating func code<Coder: FieldCoder>(by coder: inout Coder) {
    coder.code(&foreign, first: 0)
    coder.code(&unreported, first: 0)
    coder.code(&previousOwners, first: 0)
    coder.code(&counts, first: 0)
  }
}

extension Int64: FieldRecord {
  mutating func code<Coder: FieldCoder>(by coder: inout Coder) { coder.code(&self) }
}

extension Ledger {
  /// Calls `body` with every user that a run has compared, by provider and user; unless `isAlike`,
  /// only with users who have `details` or are compared in every run.
  public func forEachReconciledUser(
    isAlike: Bool = true, _ body: (ReconciledUser) throws -> Void
  ) throws {
    try visit("read the results of reconciliation") { database in
      try database.forEachRow(
        """
        select provider, user, snapshots, stands_until_ms, details from reconciled
        \(isAlike ? "" : "where details is not null or stands_until_ms is null")
        order by provider, user
        """
      ) { try body(try ReconciledUser($0)) }
    }
  }

  /// Calls `body` with every user who has a snapshot that no run has compared, captured at or
  /// before `asOf`: with its app, its time and the fingerprint of its content, by time.
  public func forEachNewSnapshot(
    asOf: Instant,
    _ body: (
      Provider, _ user: Int64, _ app: Int64, _ captured: Instant, _ content: Int64
    ) throws -> Void
  ) throws {
    try visit("read new snapshots") { database in
      try database.forEachRow(
        """
        select provider, user, captured_ms, app, content from snapshot_due
        where captured_ms <= ? order by captured_ms, provider, user, app, content
        """, asOf
      ) { row in
        let (user, app) = (row.int64(1), row.int64(3))
        let content = contentFingerprint(app: app, content: row.int64(4))
        try body(try row.value(0), user, app, row.instant(2), content)
      }
    }
  }

  /// Stores the results of comparing users, of all of them or of some.
  func write(
    _ users: [[ReconciledUser]], areAll: Bool, asOf: Instant, to database: Connection
  ) throws {
    if areAll {
      try database.execute("delete from reconciled; delete from snapshot_due")
      // With an earlier as-of, more snapshots are still to come.
      try database.run(
        """
        insert into snapshot_due (captured_ms, provider, user, app, content)
        select captured_ms, provider, user, app, content from snapshot where captured_ms > ?
        """, asOf)
    } else {
      try database.run("delete from snapshot_due where captured_ms <= ?", asOf)
    }
    let insert = try database.statement(
      """
      insert or replace into reconciled (provider, user, snapshots, stands_until_ms, details)
      values (?, ?, ?, ?, ?)
      """)
    for result in users.joined() {
      try insert.run(
        result.provider, result.user, result.snapshots, result.validUntil, result.bytes)
    }
  }
}
