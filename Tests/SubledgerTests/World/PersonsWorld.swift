import Foundation
import EventStore
import TestSupport
import Testing
import Domain

/// Three runs of a world of four providers, with ids of persons in every field that can hold one.
struct PersonsWorld {
  let program: Program
  private let parts: [String]

  init(seed: Int) throws {
    program = try Program()
    try program.run([
      "simulate", "--out", "world", "--seed", "\(seed)", "--subscribers", "60", "--months", "6",
      "--lost", "40000", "--archives", "6", "--providers", "qonversion,flobuk,iaptic,purple",
      "--duplicated", "30000", "--delayed", "30000",
    ]).ended(0)
    let folder = program.folder
    parts = try FileManager.default.contentsOfDirectory(
      atPath: folder.path("world/archives")
    ).sorted()
    for (index, part) in parts.enumerated() {
      let text = String(
        decoding: try gzip("-dc", folder.path("world/archives/\(part)")), as: UTF8.self)
      let lines = text.split(separator: "\n").enumerated().flatMap { number, line in
        Self.reportedAgain(String(line), number + index)
      }
      try folder.write(lines.map { $0 + "\n" }.joined(), to: "world/reportedAgain/\(part).jsonl")
    }
    try run("l", 1)
    try decide()
    try run("l", 2)
    try program.run([
      "close", "2025-02", "--ledger", "l.sqlite", "--force", "--reason", "\(try person()) says so",
    ]).ended(0)
  }

  /// Removes the transaction from some lines, so that the person identifies the subscription, and
  /// repeats some lines with other money.
  private static func reportedAgain(_ line: String, _ number: Int) -> [String] {
    switch number % 7 {
    case 0:
      [
        line.replacing(/"transaction":\{[^}]*\},/, with: "")
          .replacing(/"(originalT|t)ransactionId":"[^"]*",/, with: "")
      ]
    case 1:
      [line.replacing(/"purchases":\{.*\}\}\}/, with: "\"purchases\":{}}")]
    case 2:
      [
        line,
        line.replacing(/"value_usd":[0-9.]+/, with: "\"value_usd\":1.25")
          .replacing(/"created_at":([0-9]+)/, with: { "\"created_at\":\((Int($0.1) ?? 0) + 60)" }),
      ]
    default: [line]
    }
  }

  /// Runs the first, second or third run on the ledger `name`.
  func run(_ name: String, _ number: Int) throws {
    let folder = program.folder
    for part in parts.prefix(number * 2) {
      let target = folder.path("in-\(number)/\(part).jsonl")
      guard !FileManager.default.fileExists(atPath: target) else { continue }
      let text = try String(
        contentsOfFile: folder.path("world/reportedAgain/\(part).jsonl"), encoding: .utf8)
      try folder.write(text, to: "in-\(number)/\(part).jsonl")
    }
    if number == 3 {
      // Earlier lines in another order.
      let old = try String(contentsOfFile: folder.path("in-1/\(parts[1]).jsonl"), encoding: .utf8)
      try folder.write(
        old.split(separator: "\n").reversed().map { $0 + "\n" }.joined(), to: "in-3/again.jsonl")
    }
    var arguments =
      [
        "run", "--archives", "in-\(number)", "--snapshots",
      ] + ["sdk", "iaptic", "flobuk", "purple"].map { "world/snapshots/\($0)" }
    arguments += [
      "--config", "world/subledger.yaml", "--prices", "world/prices.csv", "--ledger",
      "\(name).sqlite", "--out", name, "--as-of", "2025-07-0\(number)T12:00:00Z",
    ]
    if number == 2 { arguments += ["--decisions", "decisions.yaml"] }
    try program.run(arguments).ended(0, 1)
  }

  private func decide() throws {
    let breaks = try program.rows("breaks.csv", in: "l")
    let person = try person()
    let entries = breaks.enumerated().filter { $0.offset % 3 == 0 }.map { _, row in
      "- {break_id: \"\(row["break_id"] ?? "")\", decision: explained, "
        + "reason: \"\(person) was asked\", who: w}\n"
    }
    try program.folder.write(entries.joined(), to: "decisions.yaml")
  }

  private func person() throws -> String {
    let rows = try program.rows("breaks.csv", in: "l")
    return try #require(rows.compactMap { $0["user_id"] }.first { $0.hasPrefix("QON_") })
  }

  func copy(_ name: String, _ other: String) throws {
    for path in [".sqlite", "/"]
    where FileManager.default.fileExists(
      atPath: program.folder.path(name + path))
    {
      try FileManager.default.copyItem(
        atPath: program.folder.path(name + path), toPath: program.folder.path(other + path))
    }
  }

  /// For each provider a person with breaks and one with a subscription of its own name, and those
  /// named in decisions and in a close.
  func persons() throws -> [String] {
    var persons: Set<String> = [try person()]
    let ledger = try Ledger.open(path: program.folder.path("l.sqlite"), mode: .readOnly)
    for query in [
      "select min(id) from lineage join user on user.key = user group by provider",
      """
      select max(id) from lineage join user on user.key = user
      where instr(original, printf('%016x', user.key)) > 0 group by provider
      """,
      "select max(user_id) from break_history where user_id <> '' group by provider, code",
    ] {
      try ledger.rows(sql: query) { persons.insert($0.text(0)) }
    }
    return persons.sorted()
  }

  /// The rows of tables as text, one list per table.
  func rows(of tables: some Sequence<String>, _ name: String) throws -> [[String]] {
    let ledger = try Ledger.open(path: program.folder.path("\(name).sqlite"), mode: .readOnly)
    return try tables.map { table in
      var columns: [String] = []
      try ledger.rows(sql: "select name from pragma_table_info(?)", arguments: [.text(table)]) {
        // In the index of identities, the lineages may have other keys.
        if $0.text(0) != "entries" { columns.append("quote(\($0.text(0)))") }
      }
      var rows: [String] = []
      try ledger.rows(sql: "select \(columns.joined(separator: " || ',' || ")) from \(table)") {
        rows.append($0.text(0))
      }
      return rows.sorted()
    }
  }
}

extension PersonsWorld {
  /// How many spellings of an id occur in the ledger's files, packed or not; for a short id, whose
  /// bytes can occur by chance, how many cells contain it.
  func spellings(of id: String, _ name: String) throws -> Int {
    guard id.utf8.count > 8 else { return try cells(holding: id, name) }
    let folder = program.folder
    var bytes = Data()
    for suffix in ["", "-wal", "-shm", ".lock"] {
      bytes +=
        (try? Data(contentsOf: URL(fileURLWithPath: folder.path("\(name).sqlite\(suffix)"))))
        ?? Data()
    }
    bytes += try packed(name)
    return Self.spellings(of: id).filter { bytes.range(of: $0) != nil }.count
  }

  private static func spellings(of id: String) -> [Data] {
    let plain = Data(id.utf8)
    let hex = plain.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let escaped = plain.map { "\\u00\(String($0 >> 4, radix: 16))\(String($0 & 15, radix: 16))" }
    let base64 = (0..<3).map { shift in
      // The part of the base64 that does not depend on adjacent bytes.
      let text = (Data(count: shift) + plain).base64EncodedString()
      let (first, last) = ((shift * 8 + 5) / 6, (shift + plain.count) * 8 / 6)
      return Data(Array(text.utf8)[first..<last])
    }
    return [plain, Data(hex.utf8), Data(hex.uppercased().utf8), Data(escaped.joined().utf8)]
      + [Data(plain.flatMap { [$0, 0] })] + base64
  }

  private func cells(holding id: String, _ name: String) throws -> Int {
    let ledger = try Ledger.open(path: program.folder.path("\(name).sqlite"), mode: .readOnly)
    var count: Int64 = 0
    for query in [
      "select count(*) from user where id = ?1",
      "select count(*) from lineage where original in (?1, 'user:' || ?1)",
      "select count(*) from lineage where original like ?1 || '|%'",
      "select count(*) from break_history where user_id = ?1 or subscription_id like ?1 || '|%'",
      "select count(*) from archive where instr(name || path, '/' || ?1 || '.') > 0",
    ] {
      try ledger.rows(sql: query, arguments: [.text(id)]) { count += $0.number(0) }
    }
    return Int(count)
  }

  /// The unpacked contents of documents.
  private func packed(_ name: String) throws -> Data {
    let ledger = try Ledger.open(path: program.folder.path("\(name).sqlite"), mode: .readOnly)
    var members: [UInt8] = []
    try ledger.rows(sql: "select hex(body) from document") { row in
      let digits = Array(row.text(0).utf8)
      for place in stride(from: 0, to: digits.count, by: 2) {
        members.append(
          UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) ?? 0)
      }
    }
    #expect(!members.isEmpty)
    try program.folder.write(members, to: "packed.gz")
    return try gzip("-dc", program.folder.path("packed.gz"))
  }

  /// Whether two sets are equal after replacing `names` in the second.
  ///
  /// Rows sorted by ids of persons have another order.
  func isSame(_ one: String, _ other: String, _ names: [String: String]) throws -> Bool {
    // The page lists the first rows of breaks and of the worklist.
    let described = ["SHA256SUMS", "datapackage.json", "index.html"]
    let (left, right) = (
      try program.published(in: one, except: described),
      try program.published(in: other, except: described)
    )
    #expect(left.keys.sorted() == right.keys.sorted())
    let differing = left.keys.sorted().filter { file in
      guard ["breaks", "refetch", "charges"].contains(where: file.hasPrefix) else {
        return left[file] != right[file]
      }
      func lines(_ data: Data?, _ names: [String: String]) -> [String] {
        let text = String(decoding: data ?? Data(), as: UTF8.self)
        let names = names.filter { text.contains($0.key) }
        return text.split(separator: "\n").map { line in
          // The order of the worklist, and so the priority, follows the ids.
          let line = file.hasPrefix("refetch") ? String(line.drop { $0 != "," }) : String(line)
          let redacted = names.reduce(line) { line, name in
            line.contains(name.key)
              ? Redaction(id: name.key, name: name.value).applied(to: line) : line
          }
          // No provider knows a pseudonym, so there is no request.
          guard file.hasPrefix("refetch"), redacted.contains("erased-") else { return redacted }
          let request = /,\w*,[a-z0-9.]*,[^,]*,[^,]*,b-/
          return redacted.replacing(request, with: ",b-", maxReplacements: 1)
        }.sorted()
      }
      let (mine, theirs) = (lines(left[file], names), lines(right[file], [:]))
      for line in Set(mine).symmetricDifference(theirs).sorted().prefix(4) {
        Issue.record("\(file): \(line)")
      }
      return mine != theirs
    }
    #expect(differing == [])
    return differing.isEmpty
  }
}
