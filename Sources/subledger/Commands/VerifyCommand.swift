import ArgumentParser
import Pipeline

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Prove the ledger and a published report set against their inputs.",
    discussion: """
      Checks every row of the ledger, every archive that still exists against its SHA-256, the \
      facts and reports of the last run against a repetition, and the published set against its \
      checksums. Only reads, also while a run writes; keeps copies of the ledger in the temporary \
      folder until it ends.

        subledger verify --ledger /srv/subledger.sqlite --out /srv/reports
        subledger verify --pack audit-2026-10.tar.gz

      Prints one line per check: holds, damaged (changed since it was written), differs (as \
      written, but a repetition gives another result) or skipped. Exit 65 when something is \
      damaged, 70 when something differs. Missing archives are listed, and are an error only with \
      --strict. With --quiet, nothing is printed if everything holds.
      """)

  @OptionGroup var places: PlaceOptions

  @Option(
    help: """
      Folder of the published report set. (default: that of the environment or the configuration, \
      else reports, if it exists)
      """)
  var out: String?

  @Option(help: "Prove a file of `subledger pack` on its own.")
  var pack: String?

  @Flag(help: "Treat a missing archive as damage.")
  var strict = false

  @Flag(help: "Rebuild the ledger from the archives alone, and compare what counts.")
  var replay = false

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func validate() throws {
    guard pack != nil else { return }
    let others = [
      ("--archives", !places.archives.isEmpty), ("--snapshots", !places.snapshots.isEmpty),
      ("--out", out != nil),
      ("--strict", strict), ("--replay", replay), ("--ledger", ledger.ledger != nil),
    ].filter(\.1).map(\.0)
    guard others.isEmpty else {
      throw ValidationError(
        "--pack proves a pack on its own; leave out " + others.joined(separator: ", "))
    }
  }

  func run() throws {
    var flags = places.given
    if let out { flags["out"] = [out] }
    try Session(ledger).run { session in
      let result =
        try pack.map { try RunPipeline.verify(pack: $0, stop: session.stop.read) }
        ?? session.pipeline(flags).verify(out: out, isStrict: strict, isReplay: replay)
      if !session.isQuiet || result.failure != nil { try StandardStreams.print(result.text) }
      if let failure = result.failure { throw failure }
      return .done
    }
  }
}
