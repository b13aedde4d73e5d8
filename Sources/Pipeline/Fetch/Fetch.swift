public import Domain
import EventStore
import Formats
import Foundation
import HTTP
import Logging
import Providers
import Reports
import Yams

/// The result of a fetch.
public struct FetchResult: Sendable {
  /// One line per provider that was queried.
  public internal(set) var lines: [String] = []
  /// Whether a user was skipped, or a provider did not answer.
  public internal(set) var hasReservations = false
  /// Errors of providers that could not be queried; the others were.
  public internal(set) var errors: [SubledgerError] = []
}

extension RunPipeline {
  /// Fetches snapshots of users from providers into files in `folder`, which the next run reads.
  ///
  /// - Parameters:
  ///   - onlyWorklist: whether only of users in the published worklist, not of all in the ledger.
  ///   - changedSince: only of users with an event since a time, in the form of the command line.
  ///   - folder: nil means the first folder of snapshots.
  public func fetch(
    onlyWorklist: Bool, changedSince: String?, into folder: String?,
    clock: @escaping () -> Instant
  ) throws -> FetchResult {
    try requireLedger(to: "fetch for users of")
    let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
    var scope = onlyWorklist ? nil : FetchScope.all
    if let changedSince {
      let node = Node(changedSince, .implicit, .doubleQuoted)
      let value = SettingValue(name: "changed_since", node: node, .flag)
      scope = .since(try SettingForm.time.read(value).instant(in: plan.rules.calendar))
    }
    return try fetch(scope, from: ledger, into: folder, clock)
  }

  /// Fetches due snapshots during a run, and then moves as-of to the current time unless it was
  /// given; a failure does not stop the run.
  ///
  /// - Returns: whether every user got an answer.
  mutating func fetchDue(from ledger: Ledger, _ clock: @escaping () -> Instant) throws -> Bool {
    guard !plan.isDryRun else {
      log.warning("a dry run fetches nothing")
      return true
    }
    defer { if !plan.hasExplicitAsOf { plan.rules.asOf = clock() } }
    do {
      let result = try fetch(.new, from: ledger, into: nil, clock)
      for error in result.errors { log.warning("\(error)") }
      return !result.hasReservations
    } catch {
      let error = SubledgerError(error)
      if case .stopped = error.kind { throw error }
      log.warning("\(error)")
      return false
    }
  }

  /// Fetches snapshots of the users in a scope, after those in the published worklist if they are
  /// due; nil means only those in the worklist.
  private func fetch(
    _ scope: FetchScope?, from ledger: Ledger, into folder: String?,
    _ clock: @escaping () -> Instant
  ) throws -> FetchResult {
    let sources = plan.fetch.sources.sorted { $0.key.rawValue < $1.key.rawValue }
    guard !sources.isEmpty else {
      throw SubledgerError(
        .configuration, "cannot fetch: the configuration names no provider to ask",
        hint: "set fetch.qonversion.key or another; subledger.example.yaml shows how")
    }
    let folder = try fetchFolder(folder)
    let lock = try LedgerLock.acquire(
      ledgerPath: "\(folder)/.fetch", waitSeconds: plan.lockWait, stop: stop)
    defer { withExtendedLifetime(lock) {} }
    let tasks = try worklist(for: scope, in: ledger)
    var result = FetchResult()
    for (provider, source) in sources {
      do {
        let rules = try plan.fetchRules(provider, source)
        var subjects = tasks[provider] ?? []
        if let scope {
          let first = Set(subjects)
          let byApp = provider.interface.asksByApp
          subjects += try ledger.fetchSubjects(of: provider, byApp: byApp, scope)
            .filter { !first.contains($0) }
          let nameless = subjects.count { byApp && $0.app == 0 }
          if nameless > 0 {
            subjects.removeAll { $0.app == 0 }
            let users = counted(nameless, "user")
            let line = "\(users) of \(provider.name) not asked about: no app id is known"
            log.warning("\(line)")
            result.lines.append(line)
          }
        }
        try fetch(subjects, by: rules, from: ledger, into: folder, clock, &result)
      } catch {
        let error = SubledgerError(error)
        if case .stopped = error.kind { throw error }
        result.errors.append(error)
        result.hasReservations = true
      }
    }
    return result
  }

  private func fetch(
    _ subjects: [FetchSubject], by rules: FetchRules, from ledger: Ledger, into folder: String,
    _ clock: @escaping () -> Instant, _ result: inout FetchResult
  ) throws {
    let client = try HTTPClient(authorities: plan.fetch.authorities?.path)
    let journal = try FetchJournal.open(in: folder, of: rules.provider, at: clock())
    if journal.count > 0 { log.info("resuming: \(counted(journal.count, "user")) fetched before") }
    var pass = FetchPass(rules, by: client, into: journal, clock: clock, stop: stop)
    var rest = subjects[...]
    try pass.run(
      {
        while let subject = rest.popFirst() {
          guard let id = try ledger.unerasedID(of: subject.user) else { continue }
          let app = subject.app == 0 ? "" : ledger.symbols.words[Int(subject.app)]
          return FetchedUser(id: id, app: app)
        }
        return nil
      },
      progress: { progress(of: .fetch)($0, subjects.count) })
    let users = counted(journal.count + pass.failed.count, "user")
    let files = try journal.finish(pass.failed)
    var line = "asked \(rules.provider.name) about \(users)"
    if let path = files.snapshots { line += "; snapshots: \(path.shown())" }
    if let path = files.failed { line += "; \(files.failures) without a snapshot: \(path.shown())" }
    result.lines.append(line)
    if pass.failed.isEmpty {
      log.info("\(line)")
    } else {
      log.warning("\(line)")
      result.hasReservations = true
    }
  }

  private func fetchFolder(_ given: String?) throws -> String {
    // A folder with the name of an object store, or of standard input, would never be read.
    let places = given.map { [$0] } ?? plan.snapshots
    guard let folder = places.first(where: { !plan.sources.contains($0) }) else {
      throw SubledgerError(
        .usage, "no folder is named for what is fetched",
        hint: "give --to or --snapshots a folder of this machine")
    }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      return folder
    } catch {
      throw SubledgerError(
        .cannotCreate, "cannot fetch into \(folder.shown()): \(error.cause)",
        hint: "give --to the path of a folder that you may write")
    }
  }

  /// Returns the users of the published worklist by provider, in its order.
  private func worklist(
    for scope: FetchScope?, in ledger: Ledger
  ) throws -> [Provider: [FetchSubject]] {
    switch scope {
    case nil:
      if let set = try publishedSet(in: plan.out), try !ledger.hasPublished(set: set) {
        throw SubledgerError(
          .usage,
          "cannot fetch the worklist in \(plan.out.shown()): the set there is not one of the "
            + "ledger \(plan.ledger.shown())", hint: "check --ledger and --out")
      }
    case .all, .since: return [:]
    case .new: guard try publishedSet(in: plan.out) != nil else { return [:] }
    }
    let set = try ReportSet(publishedIn: plan.out)
    var users: [Provider: [FetchSubject]] = [:]
    var seen: Set<[String]> = []
    let columns = ["provider", "app_id", "environment", "user_id", "method"]
    try set.forEachRow(of: "refetch_worklist", columns) { cells in
      guard let provider = Provider(name: cells[0]), cells[2] == Environment.production.name,
        !cells[4].isEmpty
      else { return }
      let app = provider.interface.asksByApp ? receivedText(cells[1]) : ""
      let id = receivedText(cells[3])
      guard seen.insert([provider.name, app, id]).inserted else { return }
      let subject = FetchSubject(
        user: try ledger.userKey(of: id), app: ledger.symbol(app) ?? 0)
      users[provider, default: []].append(subject)
    }
    return users
  }
}

extension Plan {
  func fetchRules(_ provider: Provider, _ source: FetchSettings.Source) throws -> FetchRules {
    let interface = provider.interface
    let name = "`fetch.\(provider.name).key`"
    var authorization: String?
    if interface.authorization != .none {
      let keys = try source.key.map { try secrets(in: $0, of: name).map(\.text) } ?? []
      guard keys.count == 1, keys[0].utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
        interface.authorization == .bearer || keys[0].contains(":")
      else {
        throw SubledgerError(
          .configuration, "cannot fetch from \(provider.name): \(name) gives no key",
          hint: interface.authorization == .basic
            ? "it must give one, as APP:KEY" : "it must give one, without spaces")
      }
      authorization =
        interface.authorization == .bearer
        ? "Bearer \(keys[0])" : "Basic \(Data(keys[0].utf8).base64EncodedString())"
    }
    return FetchRules(
      provider: provider, url: source.url ?? "https://\(interface.host)",
      authorization: authorization, api: source.api, rate: self.fetch.rate,
      concurrency: self.fetch.concurrency)
  }
}
