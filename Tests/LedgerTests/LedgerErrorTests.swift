import Foundation
import GRDB
import Testing

@testable import Ledger

@Suite("An error of SQLite is told for what it is")
struct LedgerErrorTests {
  @Test(
    "What the system cannot read is a broken disk, not a damaged ledger",
    arguments: [(EIO, "io"), (ENXIO, "io"), (ENOENT, "corrupt"), (0, "corrupt")])
  func unreadable(_ number: Int32, _ kind: String) {
    errno = number
    let error = LedgerError(
      DatabaseError(resultCode: .SQLITE_CORRUPT), doing: "read", path: "a.sqlite")
    #expect("\(error.kind)" == kind, "\(error)")
  }
}
