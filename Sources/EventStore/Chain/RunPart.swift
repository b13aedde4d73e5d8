internal import Formats

/// One table after a run: the number of its rows, and their SHA-256.
struct RunPart: Equatable {
  let name: String
  var rows: Int64
  /// Digest of the rows in the order of their key, 64 lower-case hexadecimal digits.
  var sha256: String
}

extension RunChain {
  /// Returns the parts whose rows never change after the run; only those in `tables`, if given.
  func arrived(in run: Int64, only tables: Set<String>? = nil) throws -> [RunPart] {
    try SealedTables.byRun.filter { tables?.contains($0.name) ?? true }
      .map { try part($0.name, "where \($0.rows)", run) }
  }

  /// Returns the parts that later runs change: the tables match only the last run's digests.
  func standing(only tables: Set<String>? = nil) throws -> [RunPart] {
    try SealedTables.whole.filter { tables?.contains($0) ?? true }.map { try part($0) }
  }

  /// Returns the words that existed in a run: the first `count`.
  func words(_ count: Int64) throws -> RunPart {
    try part("string", "where id in (select id from string order by id limit ?1)", count)
  }

  private func part(_ name: String, _ rows: String = "", _ value: Int64 = 0) throws -> RunPart {
    let sealed = try database.columns(in: name).filter {
      SealedTables.unsealed[name]?.contains($0) != true
    }
    let key = try database.primaryKey(name).joined(separator: ", ")
    let statement = try Statement(
      database,
      "select \(sealed.joined(separator: ", ")) from \(name) \(rows) order by \(key)")
    statement.bind(1, value)
    let digest = SHA256Digest()
    var writer = ByteWriter()
    var rows: Int64 = 0
    let columns = statement.columnCount
    try statement.forEachRow { row in
      rows += 1
      for column in 0..<columns { row.write(column, to: &writer) }
      guard writer.bytes.count > 1 << 16 else { return }
      writer.bytes.withUnsafeBytes { digest.update($0) }
      writer.reset()
    }
    writer.bytes.withUnsafeBytes { digest.update($0) }
    return RunPart(name: name, rows: rows, sha256: digest.finish())
  }
}
