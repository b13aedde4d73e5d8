internal import EventStore

/// The printed forms of foreign texts that cells show escaped; queries sort by them, so that rows
/// are in the order of the printed text.
extension ReportContext {
  /// Creates `printed_name` for names of archives.
  func makePrintedNames() throws {
    try makePrinted("printed_name", of: "select distinct name from archive") {
      nameText($0)
    }
  }

  /// Creates `printed_text` for apps and products that breaks and facts name.
  func makePrintedTexts() throws {
    try makePrinted(
      "printed_text",
      of: """
        select app from temp.break_state
        union select product_id from temp.break_state
        union select value from string
        """
    ) { cellText($0) }
  }

  private func makePrinted(
    _ name: String, of query: String, _ cell: (String) -> String
  ) throws {
    try table(name, "raw text primary key, cell text")
    try ledger.rows(sql: query) { row in
      let raw = row.text(0)
      let cell = cell(raw)
      if cell != raw { try insert(name, .text(raw), .text(cell)) }
    }
  }
}
