public import Domain

extension Ledger {
  /// Returns the unknown names in the archives of a run that may be shown, each with its sender,
  /// the object that has it, and the number of lines that contain it; most frequent first.
  public func unknownNames(
    ofRun run: Int64
  ) throws(SubledgerError) -> [(
    provider: Provider, subject: UnknownName.Subject, name: String, lines: Int64
  )] {
    try all(
      "read the unknown names",
      """
      select provider, what, unknown_input.name, sum(unknown_input.lines) as lines
      from unknown_input join archive on archive.id = unknown_input.archive
      where archive.run = ?
      group by provider, what, unknown_input.name
      order by lines desc, provider, what, unknown_input.name
      """, run
    ) { row in
      (
        provider: try row.value(0),
        subject: UnknownName.Subject(rawValue: row.text(1)) ?? .member, name: row.text(2),
        lines: row.int64(3)
      )
    }
  }
}

extension UnknownInput {
  /// Writes the names of one archive.
  func write(to database: Connection, archive: Int32) throws {
    for (name, lines) in lines {
      try database.run(
        """
        insert into unknown_input (archive, provider, what, name, lines, first_line)
        values (?, ?, ?, ?, ?, ?)
        """, archive, name.provider, name.subject.rawValue, name.name, lines.count, lines.first)
    }
  }
}
