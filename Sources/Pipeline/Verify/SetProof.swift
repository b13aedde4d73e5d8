import Formats
import Foundation
import EventStore
import Reports

extension RunPipeline {
  /// Holds a published set to its checksums, and those to the run that published them.
  func proveSet(
    _ path: String, _ given: String?, isWhole: Bool
  ) throws(SubledgerError) -> Verification.Check {
    var check = Verification.Check("set", unit: "files")
    let out = given ?? plan.out
    guard FileManager.default.fileExists(atPath: out) else {
      guard given == nil else {
        throw SubledgerError(
          .noInput, "there is no published set \(out)", hint: "check the path given with --out")
      }
      return check.skipped("there is no published set \(out)")
    }
    let seen = try attempt { try inspectSet(in: out) }
    check.count = Int64(seen.paths.count)
    for problem in seen.problems { check.fail(.damaged, problem) }
    let read = try read(path, isWhole: isWhole) { ledger throws(LedgerError) in
      try ledger.publishers()
    }
    guard let publishers = read else {
      check.notes.append("held to its own checksums alone: the ledger cannot be read")
      return check
    }
    if let run = publishers[seen.sha256] {
      check.notes.append("published by run \(run)")
    } else {
      check.fail(.damaged, "SHA256SUMS is not that of any run in the ledger")
    }
    return check
  }
}
