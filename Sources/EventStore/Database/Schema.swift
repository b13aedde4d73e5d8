internal import Domain
internal import Foundation

/// The tables of a ledger, and how a file is recognised as one.
enum Schema {
  /// One step from a version of the schema to the next.
  typealias Migration = (Connection) throws -> Void

  /// Identifies the file as a ledger, in SQLite's header ("sbld").
  private static let applicationID: Int64 = 0x7362_6c64

  /// All steps from an empty file; their number is the version that a ledger stores.
  ///
  /// A released step is never edited.
  static var migrations: [Migration] {
    [
      { database in
        for script in [
          PackageResources.v1_account_sql, PackageResources.v1_breaks_sql,
          PackageResources.v1_facts_sql, PackageResources.v1_events_sql,
          PackageResources.v1_fold_sql, PackageResources.v1_close_sql,
          PackageResources.v1_erase_sql, PackageResources.v1_lake_sql,
          PackageResources.v1_views_sql,
        ] {
          try database.execute(String(decoding: script, as: UTF8.self))
        }
      }
    ]
  }

  /// Returns the version of the ledger's schema; 0 for an empty file.
  ///
  /// - Throws: `SubledgerError` when the file is not a ledger, when a newer program wrote it, and
  ///   when a read-only one is empty or older than `newest`.
  static func version(
    of database: Connection, path: String, mode: Ledger.Mode, newest: Int
  ) throws -> Int {
    func pragma(_ name: String) throws -> Int64 {
      try database.first("pragma \(name)") { $0.int64(0) } ?? 0
    }
    let identifier = try pragma("application_id")
    if identifier == applicationID {
      let version = Int(try pragma("user_version"))
      guard version <= newest else {
        throw SubledgerError(
          .configuration, "cannot open the ledger \(path): a newer version of the program made it",
          hint: "use that version, or rebuild the ledger from the archives in a new file")
      }
      guard mode == .readWrite || version == newest else {
        throw SubledgerError(
          .configuration, "cannot read the ledger \(path): an older version of the program made it",
          hint: "let `subledger run` or `subledger ingest` bring it up to date first")
      }
      return version
    }
    // SQLite treats a file of one byte as empty.
    var status = stat()
    let isOneByte = stat(path, &status) == 0 && status.st_size == 1
    guard identifier == 0, try objects(of: database).isEmpty, !isOneByte else {
      throw SubledgerError(
        .damagedInput, "cannot open the ledger \(path): the database is not a ledger",
        hint: SubledgerError.otherFileHint)
    }
    guard mode == .readWrite else {
      throw SubledgerError(
        .noInput, "cannot open the ledger \(path): nothing was read into it yet",
        hint: "check the path given with --ledger, or read archives first with `subledger run`")
    }
    return 0
  }

  /// Runs the steps after `version`.
  ///
  /// Each is one transaction: if a step fails or the process dies, the ledger is unchanged.
  static func migrate(
    _ database: Connection, from version: Int, by migrations: [Migration]
  ) throws {
    for (index, migration) in migrations.enumerated().dropFirst(version) {
      try database.savepoint("migration")
      do {
        try migration(database)
        try database.execute(
          """
          pragma application_id = \(applicationID);
          pragma user_version = \(index + 1)
          """)
        try database.release("migration")
      } catch {
        // If the rollback fails, as on a full disk, closing the file undoes the step.
        try? database.rollBack("migration")
        throw error
      }
    }
  }

  /// The definitions of a new ledger's tables, indexes and views, by name.
  static func fresh() throws -> [String: String] {
    let database = try Connection()
    try migrate(database, from: 0, by: migrations)
    return try objects(of: database)
  }

  /// The definitions of tables, indexes and views, by name.
  static func objects(of database: Connection) throws -> [String: String] {
    var objects: [String: String] = [:]
    try database.forEachRow(
      "select name, type || ' ' || tbl_name || ' ' || coalesce(sql, '') from sqlite_schema"
    ) { objects[$0.text(0)] = $0.text(1) }
    return objects
  }
}
