import EventStore
import Testing
import Domain

@Suite("Events encoded for another process")
struct EventRowsTests {
  private static let lines = [
    Line(created: 3, received: 5), Line(transaction: "GPA.1234-5678", user: "ünï", usd: nil),
    Line(provider: .iaptic, kind: .observed, isTimeInferred: true, collection: 77),
    Line(app: "", name: "", product: ""),
  ]

  @Test("A row decodes to the same event, texts and notes with another batch's symbols")
  func roundTrip() throws {
    var batch = EventBatch.of(Array(Self.lines.dropLast()))
    batch.note(roundedAmounts: 2, missingIsProceed: 1)
    batch.add(Self.lines[3], value: 3)
    var read = EventBatch()
    _ = read.symbols.symbol("a word of another batch")
    for index in batch.events.indices {
      let row = batch.row(of: index)
      let isRead = read.add(row: row[...])
      #expect(isRead)
    }
    #expect(read.values == batch.values)
    #expect(read.notes == batch.notes)
    for (index, text) in batch.texts.enumerated() {
      #expect(batch.text(text.user) == read.text(read.texts[index].user))
      #expect(batch.text(text.original) == read.text(read.texts[index].original))
      #expect(batch.text(text.transaction) == read.text(read.texts[index].transaction))
    }
    for (sent, got) in zip(batch.events, read.events) {
      #expect(batch.symbols.words[Int(sent.product)] == read.symbols.words[Int(got.product)])
      #expect(batch.symbols.words[Int(sent.app)] == read.symbols.words[Int(got.app)])
      #expect(batch.symbols.words[Int(sent.name)] == read.symbols.words[Int(got.name)])
      var same = got
      (same.product, same.app, same.name) = (sent.product, sent.app, sent.name)
      same.revenue?.currency = sent.revenue?.currency ?? 0
      #expect(same == sent)
    }
  }

  @Test("A truncated or invalid row adds nothing", arguments: ["", "%", "AAAA", "cut"])
  func damage(text: String) {
    let batch = EventBatch.of(Self.lines)
    var row = batch.row(of: 0)
    if text == "cut" { row.removeLast(8) } else { row = text }
    var read = EventBatch()
    let isRead = read.add(row: row[...])
    #expect(!isRead)
    #expect(read.events.isEmpty)
  }
}
