import Foundation
import Domain
import Yams

/// The configuration file: options, and what has no flag.
struct Configuration: Sendable {
  /// The file that was read; nil without one.
  var path: String?
  var options = Options()
  /// Dashboard product id → store product ids.
  var products: [String: [String]] = [:]
  /// Store product id → period.
  var periods: [String: PeriodLength] = [:]
  /// The provider's event name → kind.
  var eventNames: [String: EventKind] = [:]
  var renewalGap: Interval?
  var retryHorizon: Interval?
  var freshnessMax: Interval?
  var deliveryWindows: [Provider: Interval] = [:]
  /// When providers try again, where it differs from what they publish.
  var retrySchedules: [Provider: RetrySchedule] = [:]
  var snapshotsAreComplete = false
  var valueBytesMax: Int?
  /// Contribution of rejected lines that qualifies the set, in millionths.
  var rejectedShare: Amount?
  /// Open breaks against net revenue that qualify the set, in millionths.
  var materialityShare: Amount?

  /// Where the secrets are by which deliveries are known.
  var secrets: [Provider: [SecretSource]] = [:]

  /// From which amount or age on a break matters how much.
  var severity = SeverityThresholds()
  /// What of the file the ledger keeps; nil without a file.
  var source: [UInt8]?

  /// Reads `path`, which `place` gives.
  ///
  /// - Throws: `SubledgerError` of kind `configuration` naming the file, the key and what is
  ///   expected.
  static func read(
    _ path: String, givenWith place: String? = nil
  ) throws(SubledgerError) -> Configuration {
    let data = try SettingsFile(
      what: "the configuration", path: path, place: place ?? "--config", missing: .configuration
    ).contents()
    return try read([UInt8](data), named: path)
  }

  /// Reads the content of the file at `path`.
  static func read(_ bytes: [UInt8], named path: String) throws(SubledgerError) -> Configuration {
    let text = try yamlText(bytes, of: "the configuration \(path)")
    do {
      let tree = try Yams.load(yaml: text, .settings, .settings, .utf8)
      var configuration = try ConfigurationReader(path: path).read(tree)
      configuration.source = try ConfigurationDocument.of(text)
      return configuration
    } catch let error as SubledgerError {
      throw error
    } catch {
      throw SubledgerError(
        .configuration, "the configuration \(path) is no YAML\(yamlProblem(error))",
        hint: "subledger.example.yaml shows every key")
    }
  }
}
