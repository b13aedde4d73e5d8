extension Ledger {
  /// The SHA-256 of every archive of events that was read, as 64 hexadecimal digits.
  ///
  /// One per archive ever read: small beside what is in them.
  public func contents() throws(LedgerError) -> Set<String> {
    try access("list the archives") { database in
      var contents: Set<String> = []
      let statement = try Statement(
        database, "select sha256 from archive where kind = 'events' and status <> 'repeated'")
      try statement.forEachRow { contents.insert($0.text(0)) }
      return contents
    }
  }

  /// How many lines brought an event that was new.
  public func acceptedEventLines() throws(LedgerError) -> Int {
    try access("count the lines") { database in
      let statement = try Statement(
        database, "select coalesce(sum(accepted), 0) from archive where kind = 'events'")
      return try statement.first { Int($0.int64(0)) } ?? 0
    }
  }
}
