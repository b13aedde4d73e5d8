public import ArgumentParser
public import Pipeline

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Show the events behind a number, with archive and line.",
    discussion: """
      For a number of a report, give the report, its keys as column=value, and a column. A key \
      that is left out matches every row, and the answer is their sum; without a column, all \
      measures are explained. Only reads, also while a run writes.

        subledger explain revenue_monthly period=2026-10 product_id=pro.month net_usd
        subledger explain churn_monthly period=2026-10 churned --format csv
        subledger explain --subscription 2000000000980000
        subledger explain --break b-1477543204fb37ca

      Settings, price book and as-of are those of the newest published run; --as-of sets \
      another business time.
      """)

  @Argument(help: "A report, its keys as column=value, and a column.")
  var words: [String] = []

  @Option(name: .customLong("break"), help: "Explain a break, by its break_id.")
  var breakID: String?

  @Option(help: "Explain a subscription, by its original transaction id.")
  var subscription: String?

  @Option(help: "Explain a transaction, by its id.")
  var transaction: String?

  @Option(help: "Format of the explanation: text, csv or json (one object per line).")
  var format: AnswerFormat = .text

  @Option(help: "Business time of the numbers: RFC 3339, or a date. (default: the newest run's)")
  var asOf: String?

  @OptionGroup(title: "Ledger") var ledger: LedgerOptions

  func run() throws {
    try Session(ledger).run { session in
      let subject = try ExplainSubject(
        words: words, breakID: breakID, subscription: subscription, transaction: transaction)
      let pipeline = try session.pipeline(asOf.map { ["as_of": [$0]] } ?? [:])
      try pipeline.explain(subject, as: format, write: StandardStreams.put)
      return .done
    }
  }
}

extension AnswerFormat: ExpressibleByArgument {}
