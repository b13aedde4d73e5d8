import Foundation
@testable import Reports
import TestSupport
import Testing
import Domain
@testable import EventStore

@Suite struct ManifestTests {
  @Test("The manifest is a data package with each file's size, hash, columns and key")
  func dataPackage() throws {
    let package = try published { manifest in
      manifest.resources[0].controlTotals = ["charges": "3"]
      manifest.resources[0].roundingResidual = ["gross_usd": "0.004"]
    }
    #expect(package["name"] as? String == "subledger-reports")
    let resource = try #require((package["resources"] as? [[String: Any]])?.first)
    #expect(resource["path"] as? String == "charges/2026-11.csv")
    #expect(resource["name"] as? String == "charges.2026-11")
    #expect(resource["bytes"] as? Int == 2)
    #expect(
      resource["hash"] as? String
        == "sha256:87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7")
    let schema = try #require(resource["schema"] as? [String: Any])
    #expect(schema["primaryKey"] as? [String] == ["a"])
    #expect(schema["missingValues"] as? [String] == [""])
    let ours = try #require(package["subledger"] as? [String: Any])
    let totals = ours["control_totals"] as? [String: [String: String]]
    #expect(totals == ["charges/2026-11.csv": ["charges": "3"]])
    let residual = ours["rounding_residual"] as? [String: [String: String]]
    #expect(residual == ["charges/2026-11.csv": ["gross_usd": "0.004"]])
    #expect(ours["schema_version"] as? String == "1")
    #expect(ours["as_of"] as? String == "1970-01-01T00:00:00Z")
  }

  @Test("Sums over several currencies or months are listed apart from meaningful sums")
  func hashTotals() throws {
    let ours = try ours { manifest in
      manifest.resources[0].controlTotals = ["charges": "3", "net_local": "7.00"]
      for name in ["charges", "net_local"] {
        manifest.resources[0].columns.append(
          ReportColumn(
            name: name, format: .amount, unit: nil, description: "",
            addition: name == "charges" ? .sum : .perCurrency))
      }
    }
    let path = "charges/2026-11.csv"
    #expect(ours["control_totals"] as? [String: [String: String]] == [path: ["charges": "3"]])
    #expect(ours["hash_totals"] as? [String: [String: String]] == [path: ["net_local": "7.00"]])
  }

  @Test("A set is qualified if and only if it has a reason")
  func qualified() throws {
    #expect(try ours { _ in }["qualified"] as? Bool == false)
    let doubtful = try ours { $0.qualifications = ["2 % of the lines were rejected"] }
    #expect(doubtful["qualified"] as? Bool == true)
    #expect(doubtful["reasons"] as? [String] == ["2 % of the lines were rejected"])
  }

  @Test("The order of inputs and options does not change the manifest")
  func orderFree() throws {
    let first = input("a.gz", "1")
    let second = input("b.gz", "0")
    let one = try publishedText {
      $0.inputs = [first, second]
      $0.options = ["a": .integer(1), "b": .bool(true)]
    }
    let other = try publishedText {
      $0.inputs = [second, first]
      $0.options = ["b": .bool(true), "a": .integer(1)]
    }
    #expect(one == other)
  }

  @Test("Names with control characters give readable JSON")
  func hostileNames() throws {
    let ours = try ours { $0.inputs = [input("\u{1b}[31m\"\\\n\u{9b}")] }
    let inputs = try #require(ours["inputs"] as? [[String: Any]])
    #expect(inputs[0]["archive"] as? String == "\u{1b}[31m\"\\\n\u{9b}")
    let text = try publishedText { $0.inputs = [input("\u{1b}[31m")] }
    #expect(!text.contains("\u{1b}"))
  }

  private func input(_ name: String, _ sha256: String = "") -> ArchiveRecord {
    ArchiveRecord(
      name: name, sha256: sha256, kind: .events, status: .complete, counts: ArchiveCounts())
  }

  private func published(_ change: (inout Manifest) -> Void) throws -> [String: Any] {
    let text = try publishedText(change)
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
    return try #require(object as? [String: Any])
  }

  /// The manifest's own member of a published set.
  private func ours(_ change: (inout Manifest) -> Void) throws -> [String: Any] {
    try #require(try published(change)["subledger"] as? [String: Any])
  }

  private func publishedText(_ change: (inout Manifest) -> Void) throws -> String {
    let folder = try TemporaryFolder()
    let files = ["charges/2026-11.csv": "a\n"]
    let staging = try stage(files, for: folder.path("out"))
    var manifest = manifest(of: files)
    change(&manifest)
    _ = try publish(staging, manifest: manifest)
    return try String(contentsOfFile: folder.path("out/datapackage.json"), encoding: .utf8)
  }
}
