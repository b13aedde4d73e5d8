import Formats
import Foundation
import Testing

/// The files of the JSON parsing test suite, from JSON_SUITE or from a folder next to the project.
///
/// Source: JSONTestSuite by Nicolas Seriot: `y_` must be accepted, `n_` refused, `i_` is free.
private let suite: URL? = {
  if let named = ProcessInfo.processInfo.environment["JSON_SUITE"] {
    return URL(fileURLWithPath: named)
  }
  var folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
  while folder.path != "/" {
    folder.deleteLastPathComponent()
    let files = folder.appendingPathComponent("shared/data/JSONTestSuite/test_parsing")
    if FileManager.default.fileExists(atPath: files.path) { return files }
  }
  return nil
}()

@Test(
  "The public JSON test suite gives the required verdicts",
  .enabled(if: suite != nil, "JSON_SUITE names no folder"))
func agreesWithSuite() throws {
  let folder = try #require(suite)
  let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  var judged = 0
  for name in names where name.hasSuffix(".json") {
    let bytes = try Array(Data(contentsOf: folder.appendingPathComponent(name)))
    let isAccepted = isAccepted(bytes)
    if name.hasPrefix("y_") { #expect(isAccepted, "\(name)") }
    if name.hasPrefix("n_") { #expect(!isAccepted, "\(name)") }
    judged += 1
  }
  #expect(judged > 300)
}
