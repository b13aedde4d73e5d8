internal import Foundation

/// Takes the rights that everybody has from a ledger's files: they hold ids of users.
///
/// A copy, a restore or a umask may have left them open. Rights of the group stay: an operator may
/// have given them on purpose.
///
/// - Throws: a `permission` error when a file belongs to somebody else.
func closeToOthers(ledgerPath: String) throws(LedgerError) {
  for path in LedgerFiles(of: ledgerPath).all {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o007 != 0 else { continue }
    guard chmod(path, status.st_mode & 0o770) == 0 else {
      throw LedgerError(
        .permission,
        "cannot close \(path), which everybody may use: \(String(cString: strerror(errno)))",
        hint: "let its owner run chmod o-rwx on it")
    }
  }
}
