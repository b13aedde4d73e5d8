internal import Glibc
public import EventStore

/// Why the reports could not be written; nothing may be published then.
public enum ReportError: Error, Sendable, CustomStringConvertible {
  /// Numbers that must agree do not: a bug (exit 70). `rows` names the first of them.
  case identity(name: String, rows: [String])
  /// A sum of `column` exceeds ±9,223,372,036,854 units and cannot be kept exactly (exit 70).
  case overflow(report: String, column: String)
  /// The ledger could not be read.
  case ledger(LedgerError)
  /// A signal asked to stop.
  case stopped(signal: Int32)
  /// A file or folder could not be made (exit 73, or 77 without permission).
  case cannotCreate(path: String, errorNumber: Int32)
  /// A published file could not be read again (exit 74).
  case cannotRead(path: String, errorNumber: Int32)
  /// A file could not be written (exit 74).
  case cannotWrite(path: String, errorNumber: Int32)

  /// What failed, on which file, why, and what to do.
  public var description: String {
    switch self {
    case .identity(let name, let rows):
      "cannot publish: the identity \"\(name)\" does not hold for \(rows.joined(separator: "; "));"
        + " this is a bug: keep the ledger, and report the line above"
    case .overflow(let report, let column):
      "cannot write \(column) of \(report): a sum exceeds the range of exact numbers;"
        + " look in the archives for amounts that cannot be true"
    case .ledger(let error): error.description
    case .stopped(let signal): "stopped by signal \(signal) while the reports were written"
    case .cannotCreate(let path, let number):
      "cannot make \(path): \(String(cString: strerror(number)));"
        + " check that the folder given as --out can be written"
    case .cannotRead(let path, let number):
      "cannot read \(path): \(String(cString: strerror(number))); check the disk and run again"
    case .cannotWrite(let path, let number):
      "cannot write \(path): \(String(cString: strerror(number)));"
        + " free space on the disk of --out and run again"
    }
  }
}
