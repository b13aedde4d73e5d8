// The manifest as a Frictionless Data Package, version 2 (datapackage.org/standard/data-package).
// Our extensions are "subledger", and "unit" of each field.
internal import Domain
internal import EventStore

/// A file's size and hash, for the manifest and the checksums.
struct FileSeal: Equatable {
  var bytes: Int64
  /// 64 hexadecimal digits.
  var sha256: String
}

extension Manifest {
  /// The text of `datapackage.json`; `seals` holds the seal of every resource, by path.
  func document(seals: [String: FileSeal]) -> [UInt8] {
    let sorted = resources.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    return JSONValue.object([
      "$schema": .string("https://datapackage.org/profiles/2.0/datapackage.json"),
      "name": .string(packageName),
      "profile": .string("tabular-data-package"),
      "resources": .array(sorted.map { described($0, seal: seals[$0.path]) }),
      "subledger": .object(extensionMembers(of: sorted)),
    ]).document(ofBytes: inputs.reduce(1 << 18) { $0 + $1.name.utf8.count + 320 })
  }

  private func described(_ resource: ReportTable, seal: FileSeal?) -> JSONValue {
    precondition(seal != nil, "every report of the manifest is a file of the set")
    let seal = seal ?? FileSeal(bytes: 0, sha256: "")
    return .object([
      "name": .string(resource.name),
      "path": .string(resource.path),
      "description": .string("Time zone of days and months: \(timeZone), except columns in UTC."),
      "profile": .string("tabular-data-resource"),
      "type": .string("table"),
      "format": .string("csv"),
      "mediatype": .string("text/csv"),
      "encoding": .string("utf-8"),
      "bytes": .integer(seal.bytes),
      "hash": .string("sha256:" + seal.sha256),
      "rows": .integer(resource.rows),
      "dialect": .object([
        "delimiter": .string("\(dialect.separator)"),
        "doubleQuote": .bool(true),
        "header": .bool(true),
        "lineTerminator": .string(dialect == .rfc4180 ? "\n" : "\r\n"),
        "quoteChar": .string("\""),
      ]),
      "schema": resource.schema(dialect),
    ])
  }

  private func extensionMembers(of resources: [ReportTable]) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "schema_version": .string("1"),
      "version": .string(version),
      "as_of": .string(asOf.text),
      "time_zone": .string(timeZone),
      "csv_dialect": .string(dialect.rawValue),
      "options": .object(options),
      "inputs": .array(
        inputs.indices.sorted { ArchiveRecord.precedes(inputs[$0], inputs[$1]) }
          .map { inputs[$0].value }),
      "watermarks": .array(watermarks),
      "counts": .object(counts.mapValues { .integer($0) }),
      "control_totals": .object(byPath(resources) { $0.totals(addingUp: true) }),
      "hash_totals": .object(byPath(resources) { $0.totals(addingUp: false) }),
      "qualified": .bool(!qualifications.isEmpty),
      "reasons": .array(qualifications.map { .string($0) }),
    ]
    let residual = byPath(resources, \.roundingResidual)
    if !residual.isEmpty { members["rounding_residual"] = .object(residual) }
    return members
  }

  private func byPath(
    _ resources: [ReportTable], _ sums: (ReportTable) -> [String: String]
  ) -> [String: JSONValue] {
    let all = Dictionary(resources.map { ($0.path, sums($0)) }) { $1 }
    return all.filter { !$0.value.isEmpty }.mapValues { .object($0.mapValues { .string($0) }) }
  }
}

extension ReportTable {
  /// The totals of the columns that add up over all rows, or of the other columns.
  func totals(addingUp: Bool) -> [String: String] {
    let others = Set(columns.filter { $0.addition != .sum }.map(\.name))
    return controlTotals.filter { others.contains($0.key) != addingUp }
  }

  /// The path, reduced to the characters that the standard allows in names.
  var name: String {
    let stem = path.hasSuffix(".csv") ? String(path.dropLast(4)) : path
    return String(stem.map { $0 == "/" ? "." : $0 })
  }

  func schema(_ dialect: CSVDialect) -> JSONValue {
    .object([
      "fields": .array(columns.map { $0.value(dialect) }),
      "primaryKey": .array(columns.filter(\.isKey).map { .string($0.name) }),
      "missingValues": .array([.string("")]),
    ])
  }
}

extension ReportColumn {
  func value(_ dialect: CSVDialect) -> JSONValue {
    var members: [String: JSONValue] = [
      "name": .string(name),
      "type": .string(type),
      "description": .string(description),
    ]
    if let unit { members["unit"] = .string(unit) }
    if type == "number", dialect.hasDecimalComma { members["decimalChar"] = .string(",") }
    return .object(members)
  }
}

extension ArchiveRecord {
  static func precedes(_ left: ArchiveRecord, _ right: ArchiveRecord) -> Bool {
    left.name == right.name
      ? left.sha256 < right.sha256
      : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
  }

  var value: JSONValue {
    .object([
      "archive": .string(name),
      "sha256": .string(sha256),
      "kind": .string(kind.rawValue),
      "lines": .integer(counts.lines),
      "accepted": .integer(counts.accepted),
      "duplicates": .integer(counts.duplicates),
      "skipped": .integer(counts.skipped),
      "rejected": .integer(counts.rejected),
      "status": .string(status.rawValue),
    ])
  }
}
