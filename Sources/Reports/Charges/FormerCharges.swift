public import Domain
internal import Formats
internal import Foundation
internal import Glibc

/// The list of charges that the last run published, whole and as it was published.
public struct FormerCharges: Sendable {
  struct File: Sendable {
    let path: String
    let seal: FileSeal
    let totals: ChargeTotals
    /// Bytes at the end of a line before its line feed.
    let endBytes: Int
  }

  let months: [Month: File]

  /// The list in the set in `folder`; nil unless `sha256` is that of its checksums and each of its
  /// files is as it was published, in `dialect`.
  public init?(
    publishedIn folder: String, sha256 checksums: String, in dialect: CSVDialect
  ) throws(SubledgerError) {
    guard let document = try readFile("\(folder)/\(checksumsName)"),
      sha256(of: document) == checksums, let manifest = try readFile("\(folder)/\(manifestName)")
    else { return nil }
    let sums = Checksums(reading: document)
    guard sums.hashes[manifestName] == sha256(of: manifest),
      let package = try? JSONDecoder().decode(PublishedPackage.self, from: Data(manifest)),
      package.subledger.csv_dialect == dialect
    else { return nil }
    var months: [Month: File] = [:]
    for resource in package.resources where resource.path.hasPrefix("charges/") {
      let path = "\(folder)/\(resource.path)"
      guard let month = Month(text: String(resource.path.dropFirst("charges/".count).dropLast(4))),
        let totals = ChargeTotals(
          rows: resource.rows,
          totals: package.subledger.totals(of: resource.path),
          residuals: package.subledger.rounding_residual?[resource.path] ?? [:]),
        try entryType(path) == .file
      else { return nil }
      let seal = try seal(of: path)
      guard seal.sha256 == sums.hashes[resource.path] else { return nil }
      months[month] = File(
        path: path, seal: seal, totals: totals, endBytes: dialect == .rfc4180 ? 0 : 1)
    }
    self.months = months
  }
}

/// The members of a manifest that the next run reads.
private struct PublishedPackage: Decodable {
  struct Resource: Decodable {
    let path: String
    let rows: Int64
  }

  struct Extension: Decodable {
    // As they are published.
    let csv_dialect: CSVDialect
    let control_totals: [String: [String: String]]
    let hash_totals: [String: [String: String]]?
    let rounding_residual: [String: [String: String]]?

    func totals(of path: String) -> [String: String] {
      (control_totals[path] ?? [:]).merging(hash_totals?[path] ?? [:]) { $1 }
    }
  }

  let resources: [Resource]
  let subledger: Extension
}

extension FormerCharges.File {
  /// Calls `body` at every row, without its line end.
  func forEachRow(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var isHeader = true
    try forEachLine(of: path) { line in
      if !isHeader { try body(UnsafeRawBufferPointer(rebasing: line.dropLast(endBytes))) }
      isHeader = false
    }
  }
}
