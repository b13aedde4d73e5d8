import ArgumentParser
import Pipeline

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check whether the nightly job can run.",
    discussion: """
      Checks configuration, secrets, time zones, clock, archives and their names, permissions, \
      free space, the ledger, its last runs, and products that `products` does not map. Only \
      reads. Exit 1 when something is an error.

        subledger doctor --config /etc/subledger/subledger.yaml
      """)

  @OptionGroup var given: RunOptions

  func run() throws {
    try Session(given.ledger).run { session in
      let settings = session.settings(given.flags)
      let diagnosis = try Diagnosis(settings, now: .now, stop: session.stop.read)
      try StandardStreams.print(diagnosis.text)
      return diagnosis.hasErrors ? .reservations : .done
    }
  }
}
