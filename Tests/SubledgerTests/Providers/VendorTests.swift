import Foundation
import TestSupport
import Testing

/// A file of bodies, with the expected reports.
struct VendorCase: Sendable, CustomTestStringConvertible {
  let name: String
  let sentence: String
  var asOf = "2026-03-01"
  var timezone = "UTC"
  /// Codes in `breaks.csv` in order, without stale input.
  var breaks: [String] = []

  var testDescription: String { sentence }

  static let all = [
    VendorCase(
      name: "generations", sentence: "Bodies of every generation since 2020 are booked",
      breaks: ["EXPIRY_MISMATCH", "MISSED_EXPIRATION", "MISSED_RENEWAL", "MISSED_START"]),
    VendorCase(
      name: "identity",
      sentence: "Ids as numbers and texts are one; two kinds in one second are two events",
      breaks: ["CONFLICT"]),
    VendorCase(
      name: "proceeds", sentence: "Sales and proceeds come to the same price",
      breaks: ["RATE_MISMATCH"]),
    VendorCase(
      name: "refunds", sentence: "Whole refunds give back the charge, others what they say",
      breaks: ["MISSED_RENEWAL", "MISSED_RENEWAL", "MISSED_START"]),
    VendorCase(
      name: "charged-twice",
      sentence: "A transaction of Apple is booked once, and given back once",
      breaks: ["DOUBLE_CHARGE", "DOUBLE_CHARGE", "OVER_REFUND"]),
    VendorCase(
      name: "upgrade",
      sentence: "An upgrade whose expiry is its own time runs as long as its entitlement"),
    VendorCase(
      name: "counter", sentence: "A trial, a conversion and 18 renewals agree with a count of 18"),
    VendorCase(
      name: "boundaries", sentence: "A movement at midnight of the 1st belongs to the new month",
      breaks: ["MISSED_RENEWAL"]),
    VendorCase(
      name: "berlin", sentence: "Months begin at local midnight, in summer and in winter",
      asOf: "2026-05-01", timezone: "Europe/Berlin"),
    VendorCase(
      name: "purple", sentence: "Purple's events are priced by the list and end as reported",
      asOf: "2026-06-01"),
    VendorCase(
      name: "iaptic", sentence: "iaptic's notifications are booked with their own amounts",
      asOf: "2026-06-01"),
    VendorCase(
      name: "iaptic-states", sentence: "iaptic's collections without a reason are compared",
      asOf: "2026-06-01"),
    VendorCase(
      name: "flobuk", sentence: "FLOBUK's states are compared along a chain of orders",
      asOf: "2026-06-01"),
  ]
}

@Suite("Bodies as their provider documents them")
struct VendorTests {
  /// `Vendor/<case>.<report>.csv` contains the columns that the case is about.
  @Test("A documented case gives its expected reports", arguments: VendorCase.all)
  func reports(of vendor: VendorCase) throws {
    let program = try Program()
    var arguments = [
      "run", "--archives", Self.path("\(vendor.name).jsonl"), "--as-of", vendor.asOf,
      "--timezone", vendor.timezone,
    ]
    let snapshot = Self.path("\(vendor.name).snapshot.jsonl")
    if FileManager.default.fileExists(atPath: snapshot) { arguments += ["--snapshots", snapshot] }
    let prices = Self.path("\(vendor.name).prices.csv")
    if FileManager.default.fileExists(atPath: prices) { arguments += ["--prices", prices] }
    try program.run(arguments).ended(0, 1)
    let codes = try program.rows("breaks.csv").compactMap { $0["code"] }
    #expect(codes.filter { $0 != "STALE_INPUT" }.sorted() == vendor.breaks)
    #expect(try program.rows("rejects.csv").isEmpty)
    let expectations = try Self.expectations(of: vendor)
    #expect(!expectations.isEmpty)
    for name in expectations {
      let expected = try String(contentsOfFile: Self.path(name), encoding: .utf8)
      let columns = expected.prefix { $0 != "\n" }.split(separator: ",").map(String.init)
      let report = name.split(separator: ".").dropFirst().joined(separator: ".")
      let rows = try program.rows(report.replacingOccurrences(of: "@", with: "/"))
      let lines = rows.map { row in columns.map { row[$0] ?? "no column \($0)" } }
      let reported = ([columns] + lines).map { $0.joined(separator: ",") + "\n" }.joined()
      #expect(reported == expected, "\(name)")
    }
  }

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Vendor")

  private static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  private static func expectations(of vendor: VendorCase) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().filter {
      $0.hasPrefix("\(vendor.name).") && $0.hasSuffix(".csv") && !$0.hasSuffix(".prices.csv")
    }
  }
}
