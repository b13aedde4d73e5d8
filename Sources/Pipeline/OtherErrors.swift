public import Domain
import Foundation

extension SubledgerError {
  /// Wraps any error, with the kind that determines the exit code.
  public init(_ error: any Error) {
    switch error {
    case let error as SubledgerError: self = error
    case let error as AmountOverflow:
      self.init(
        .overflow, "cannot fold the events: \(error)",
        hint: "look in the archives for amounts that cannot be true")
    case let error as CocoaError:
      let path = (error.filePath ?? error.url?.path).map { " \($0)" } ?? ""
      self.init(
        .inputOutput, "cannot read or write the file\(path): \(error.cause)",
        hint: "check the disk and its permissions; copies are made in TMPDIR")
    default: self.init(.inputOutput, "\(error)")
    }
  }
}

extension Error {
  /// The reason why a call of Foundation failed, in the system's words if there are any.
  var cause: String {
    guard let system = (self as? CocoaError)?.underlying as? POSIXError else {
      return localizedDescription
    }
    return String(cString: strerror(system.code.rawValue))
  }
}
