public import Domain

extension Ledger {
  /// Returns the size of the file in bytes, without its log.
  public func fileSize() throws(SubledgerError) -> Int64 {
    try first(
      "read the size of the file",
      "select page_count * page_size from pragma_page_count, pragma_page_size"
    ) { $0.int64(0) } ?? 0
  }

  /// Empties the write-ahead log.
  ///
  /// - Throws: `SubledgerError` of kind `tryAgain` while another process reads an older state.
  public func emptyLog() throws(SubledgerError) {
    try sync()
    try access("empty the log") { database in
      guard try database.checkpoint(isEmptying: true) else {
        throw SubledgerError(
          .tryAgain, "cannot empty the log of the ledger \(path): a reader holds it",
          hint: "wait until that reader is done, and run the command again")
      }
    }
  }

  /// Rewrites the ledger without free space, so that it contains nothing deleted or overwritten and
  /// is as small as possible.
  public func vacuum() throws(SubledgerError) {
    try access("rewrite the ledger") { try $0.execute("vacuum") }
    try emptyLog()
  }
}
