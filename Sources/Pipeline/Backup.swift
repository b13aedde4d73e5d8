import Foundation
import EventStore
import Domain

extension RunPipeline {
  /// Copies the ledger to `target` while a run may write, and says how big the copy is.
  public func backup(to target: String) throws -> String {
    try requireLedger(to: "back up")
    guard !FileManager.default.fileExists(atPath: target) else {
      throw SubledgerError(
        .cannotCreate, "cannot back up to \(target.shown()): it exists",
        hint: "a backup takes the place of no file: give another name, or remove it first")
    }
    let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
    try ledger.requireSealed()
    let size = try ledger.backup(to: target, stop: stop)
    return "\(target.shown()) holds the ledger, checked: \(size) bytes"
  }
}
