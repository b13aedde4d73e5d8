import Formats
import Foundation
import EventStore
import Reports
import Domain

/// Why a run failed: what was being done, on what, why it failed, and what to do.
public struct SubledgerError: Error, Sendable, CustomStringConvertible {
  /// The class of the error, as in the exit codes.
  public enum Kind: Sendable {
    /// An option or argument that makes no sense.
    case usage
    /// Input is damaged beyond what salvage accepts.
    case damagedInput
    /// A path does not exist, or there is nothing to read and the ledger is empty.
    case noInput
    /// A bug, or an identity that does not hold.
    case identity
    /// Output cannot be made.
    case cannotCreate
    /// Reading or writing failed.
    case inputOutput
    /// Another run holds the lock.
    case tryAgain
    /// Rights are missing.
    case permission
    /// The configuration is wrong.
    case configuration
    /// A signal asked to stop; the payload is its number.
    case stopped(Int32)
  }

  /// What went wrong.
  public var kind: Kind
  /// What failed, on which file, and why.
  public var message: String
  /// What to do about it; empty when there is nothing to add.
  public var hint: String

  /// Makes an error.
  public init(_ kind: Kind, _ message: String, hint: String = "") {
    self.kind = kind
    self.message = message
    self.hint = hint
  }

  /// A signal asked to stop, and no change is half done.
  static func stopped(by signal: Int32) -> SubledgerError {
    SubledgerError(
      .stopped(signal),
      "interrupted by signal \(signal); ingested archives are kept, nothing was published")
  }

  /// Message and hint for a person.
  public var description: String { hint.isEmpty ? message : "\(message)\n  hint: \(hint)" }
}

extension SubledgerError {
  /// The failure of any module with the same message, and the kind that decides the exit code.
  public init(_ error: any Error) {
    switch error {
    case let error as SubledgerError: self = error
    case let error as ArchiveError: self.init(reading: error)
    case let error as LedgerError: self.init(keeping: error)
    case let error as ReportError: self.init(reporting: error)
    case let error as PublishError: self.init(publishing: error)
    case let error as AmountOverflow:
      self.init(
        .identity, "cannot fold the events: \(error)",
        hint: "look in the archives for amounts that cannot be true, such as prices in the wrong "
          + "unit, and make the ledger anew without them")
    case let error as CocoaError: self.init(handling: error)
    default: self.init(.inputOutput, "\(error)")
    }
  }

  private init(handling error: CocoaError) {
    let path = (error.filePath ?? error.url?.path).map { " \($0)" } ?? ""
    self.init(
      .inputOutput, "cannot read or write the file\(path): \(error.cause)",
      hint: "check the disk and the rights there; copies are made in TMPDIR")
  }

  private init(reading error: ArchiveError) {
    let kind: Kind =
      switch error.kind {
      case .missing: .noInput
      case .permission: .permission
      case .io: .inputOutput
      }
    self.init(kind, error.description)
  }

  private init(keeping error: LedgerError) {
    let kind: Kind =
      switch error.kind {
      case .locked: .tryAgain
      case .permission: .permission
      case .missing: .noInput
      case .newer, .older: .configuration
      case .corrupt, .notALedger: .damagedInput
      case .full, .io: .inputOutput
      case .overflow: .identity
      case .stopped(let signal): .stopped(signal)
      }
    self.init(kind, error.message, hint: error.hint)
  }

  private init(reporting error: ReportError) {
    switch error {
    case .identity, .overflow: self.init(.identity, error.description)
    case .ledger(let cause): self.init(keeping: cause)
    case .stopped(let signal): self = .stopped(by: signal)
    case .cannotCreate(_, let number):
      let isForbidden = [EACCES, EPERM, EROFS].contains(number)
      self.init(isForbidden ? .permission : .cannotCreate, error.description)
    case .cannotRead, .cannotWrite: self.init(.inputOutput, error.description)
    }
  }

  private init(publishing error: PublishError) {
    let kind: Kind =
      switch error.kind {
      case .cannotCreate: .cannotCreate
      case .io: .inputOutput
      case .permission: .permission
      }
    self.init(kind, error.description)
  }
}

extension Error {
  /// Why something that Foundation did failed, in the system's words where it has some.
  var cause: String {
    guard let system = (self as? CocoaError)?.underlying as? POSIXError else {
      return localizedDescription
    }
    return String(cString: strerror(system.code.rawValue))
  }
}
