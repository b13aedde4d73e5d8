import ArgumentParser
import Domain
import Pipeline

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Ingest, fold, reconcile, report, publish: the nightly job.",
    discussion: """
      Reads new lines of the archives and snapshots, and publishes the whole report set. \
      Running it again, with any order or split of the same archives, gives the same bytes.

        subledger run --archives /srv/webhooks --out /srv/reports --fail-on open
      """)

  @Flag(
    help: """
      First fetch snapshots of the worklist's users and of those with new events, into the first \
      folder of --snapshots.
      """)
  var fetch = false

  @OptionGroup var given: RunOptions

  func run() throws {
    try Session(given.ledger, drawsProgress: true).run { session in
      let clock: (() -> Instant)? = fetch ? { .now } : nil
      let settings = session.settings(given.flags)
      return try session.reporting(session.pipeline(of: settings), isWatched: true) {
        try settings.check()
        return try $0.run(fetchingBy: clock)
      }
    }
  }
}
