import EventStore
import Formats
import Glibc
public import Domain

/// Gauges in the text format of Prometheus, without data of persons.
struct RunMetrics: Sendable, Equatable {
  typealias Labels = KeyValuePairs<String, String>

  private static let prefix = "subledger_"
  var text = ""

  /// Adds a gauge, whose name ends with the unit, and its values; adds nothing without values.
  mutating func add(_ name: String, _ help: String, _ values: [(labels: Labels, value: String)]) {
    guard !values.isEmpty else { return }
    let name = Self.prefix + name
    text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
    for (labels, value) in values {
      let texts = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
      text += name + (texts.isEmpty ? " " : "{\(texts)} ") + value + "\n"
    }
  }

  mutating func add(_ name: String, _ help: String, _ value: String) {
    let none: Labels = [:]
    add(name, help, [(none, value)])
  }

  private static func escaped(_ text: String) -> String {
    text.shown().replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }

  /// Returns the metrics of the last published run in a file.
  static func published(in path: String) -> String {
    let bytes = (try? fileContents(of: "the metrics", at: path, givenWith: "--metrics")) ?? []
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { line in
      let name = line.hasPrefix("# ") ? line.dropFirst("# HELP ".count) : line
      return name.hasPrefix(prefix) && !name.hasPrefix(prefix + "last_run_")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension RunMetrics {
  /// Creates the metrics of what a run published and found; `read` counts its new lines.
  init(plan: Plan, ledger: Ledger, rules: FoldSettings, read: ArchiveCounts) throws {
    add(
      "lines", "New lines of the run, by verdict.",
      [
        (["verdict": "accepted"], "\(read.accepted)"),
        (["verdict": "duplicate"], "\(read.duplicates)"),
        (["verdict": "skipped"], "\(read.skipped)"), (["verdict": "rejected"], "\(read.rejected)"),
      ])
    let breaks = try ledger.breakCounts().map { count -> (Labels, BreakCount) in
      (["code": count.code, "severity": count.severity, "status": count.status], count)
    }
    add("breaks", "Unresolved breaks.", breaks.map { ($0, "\($1.count)") })
    add(
      "breaks_estimated_usd", "Estimated gross of the missing events of breaks.",
      breaks.map { ($0, $1.estimatedUSD?.text() ?? "0") })
    let feeds = rules.watermarks.values.sorted(by: Watermark.isNamedBefore)
    func addFeeds(_ name: String, _ help: String, _ age: (Watermark) -> Interval) {
      add(
        name, help,
        feeds.map { mark in
          let value = age(mark).milliseconds / 1000
          return (["provider": mark.feed.provider.name, "app_id": mark.app], "\(value)")
        })
    }
    addFeeds("feed_age_seconds", "Age of the newest input of a feed when the run began.") {
      plan.now.since($0.newest)
    }
    addFeeds("feed_silence_max_seconds", "Age at which the input of a feed is stale.", \.gapMax)
    add("ledger_bytes", "Size of the ledger.", "\(plan.ledgerBytes)")
  }
}

extension RunPipeline {
  /// Writes the result of a run to the file in the settings, readable by everyone.
  ///
  /// Metrics of the last published run remain in the file when this run did not publish.
  ///
  /// - Parameter steps: the duration of each step; without steps that did not run.
  /// - Throws: `SubledgerError` when the file cannot be written.
  public func writeMetrics(
    of result: RunResult?, exitCode: Int32, ended: Instant, steps: [RunProgress.Stage: Duration]
  ) throws {
    guard let file = plan.metrics, !plan.isDryRun else { return }
    let place = file.path
    let seconds = "\(ended.milliseconds / 1000)"
    var metrics = RunMetrics()
    metrics.add("last_run_timestamp_seconds", "When the last run ended.", seconds)
    metrics.add("last_run_exit_code", "Exit code of the last run.", "\(exitCode)")
    if let published = result?.metrics {
      metrics.add(
        "last_success_timestamp_seconds", "When the last run ended that published.", seconds)
      metrics.add(
        "stage_duration_seconds", "Duration of each stage of the run.",
        RunProgress.Stage.allCases.filter { $0 != .fetch || steps[$0] != nil }.map { stage in
          let milliseconds = (steps[stage] ?? .zero) / .milliseconds(1)
          return (["stage": "\(stage)"], Amount(micros: Int64(milliseconds) * 1000).text())
        })
      metrics.text += published.text
    } else {
      metrics.text += RunMetrics.published(in: place)
    }
    let published = result?.metrics == nil ? "" : "; the reports are published"
    try replace(
      file, with: metrics.text, doing: "write the metrics \(place.shown())\(published)")
  }

  /// Writes a file that everyone can read, replacing an existing one.
  func replace(_ output: GivenPath, with text: String, doing: String) throws(SubledgerError) {
    // A run that failed for its settings writes its metrics, too.
    try plan.requireOwn(output)
    let place = output.path
    // Leftover of an interrupted run.
    unlink(place + ".part")
    guard let file = AtomicFile(for: place, rights: 0o644), chmod(file.path, 0o644) == 0,
      Array(text.utf8).withUnsafeBytes(file.file.write), file.replace()
    else { throw SubledgerError.system(doing, .cannotCreate, cause: errno) }
  }
}
