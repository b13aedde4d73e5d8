public import Domain
import Formats
import Foundation
import Reports

extension GivenSettings {
  /// Returns all errors in the settings and in the files that they name, with advice; empty when a
  /// run can follow them.
  public func problems(now: Instant) -> [SubledgerError] {
    var errors = errors
    func check(_ work: () throws -> Void) { do { try work() } catch { errors.add(error) } }
    var plan = Plan(self, now: now)
    check { try plan.requireOwnOutputs() }
    check { try plan.readPrices() }
    check { try plan.readDecisions() }
    check { try plan.readCustomReports() }
    for provider in Provider.allCases { check { _ = try plan.secrets(of: provider) } }
    for (provider, source) in plan.fetch.sources.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      check { _ = try plan.fetchRules(provider, source) }
    }
    if let file = plan.fetch.authorities { check { try Self.requirePath(file.path) } }
    for path in plan.archives + plan.snapshots where !plan.sources.contains(path) {
      check { try Self.requirePath(path) }
    }
    return errors.all
  }

  /// The file that was read, if any, and the number of given settings.
  public var summary: String {
    let file = configuration.path.map { $0.shown() } ?? "no configuration file"
    let given = Setting.all.count { setting in values.contains { $0.name == setting.name } }
    return "\(file): \(counted(given, "setting")) given"
  }

  /// Returns one row per setting, with its value and its origin; secrets are masked.
  ///
  /// - Throws: `SubledgerError` of kind `usage` or `configuration` when one is wrong.
  public func listing() throws -> String {
    try check()
    let records = Setting.all.map { setting -> Record in
      let value = values.last { $0.name == setting.name }
      return [
        "setting": .plain(setting.name), "source": .name(value?.origin ?? "default"),
        "value": .text(value?.text(masked: setting.isSecret) ?? setting.fallback),
      ]
    }
    return Record.table(records).joined(separator: "\n")
  }

  private static func requirePath(_ path: String) throws(SubledgerError) {
    guard access(path, R_OK) != 0 else { return }
    throw SubledgerError.system("read \(path.shown())", cause: errno)
  }
}
