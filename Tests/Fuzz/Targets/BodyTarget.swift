import Formats
import Providers
import Domain

/// Lines of bodies: all counted, equal for every cut and repetition, and for equal content in other
/// notation.
func feedBodies(_ bytes: UnsafeRawBufferPointer) {
  var reused = Normaliser(rules: NormaliserSettings())
  let batch = normalised(bytes, by: &reused)
  judge(batch, of: bytes)
  let again = normalised(bytes, by: &reused)
  claim(same(again, batch), "reading twice gives the same")
  var fresh = Normaliser(rules: NormaliserSettings())
  var pieces = EventBatch()
  var start = 0
  var line: Int64 = 1
  while start < bytes.count {
    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    fresh.add(.lines(part, firstLine: line, firstOffset: Int64(start)), to: &pieces)
    start = end
    line += 1
  }
  claim(same(pieces, batch), "reading line by line gives the same")
  judgeOtherWords(bytes, batch)
}

/// The batch that these bytes give.
func normalised(_ bytes: UnsafeRawBufferPointer, by normaliser: inout Normaliser) -> EventBatch {
  var batch = EventBatch()
  normaliser.add(.lines(bytes, firstLine: 1, firstOffset: 0), to: &batch)
  return batch
}

private func same(_ left: EventBatch, _ right: EventBatch) -> Bool {
  left.events == right.events && left.texts == right.texts && left.values == right.values
    && left.arena == right.arena && left.symbols.words == right.symbols.words
    && left.rejects == right.rejects && left.skipped == right.skipped
    && left.lines == right.lines && left.notes == right.notes
}

private func judge(_ batch: EventBatch, of bytes: UnsafeRawBufferPointer) {
  let skipped = batch.skipped.values.reduce(0, +)
  claim(
    batch.lines == Int64(Set(batch.values).count + batch.rejects.count) + skipped,
    "every value brings events, or is skipped or rejected once")
  claim(batch.texts.count == batch.events.count, "every event has its texts")
  claim(batch.events.count <= bytes.count, "events are no more than bytes")
  let longest = 2 * (NormaliserSettings.wordBytesMax + 8)
  claim(batch.arena.count <= batch.events.count * 3 * longest, "ids keep to their bound")
  for (event, text) in zip(batch.events, batch.texts) { judge(event, text, batch, bytes.count) }
  for reject in batch.rejects {
    claim(reject.detail.utf8.count <= 200, "a detail is short")
    claim(
      reject.detail.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }, "a detail is plain text")
  }
  if let secret = secret(in: bytes) {
    claim(!batch.arena.contains(secret), "a password is no id")
    claim(
      !batch.symbols.words.contains { Array($0.utf8).contains(secret) }, "a password is no word")
    claim(!batch.rejects.contains { Array($0.detail.utf8).contains(secret) }, "nor told")
  }
}

private func judge(_ event: Event, _ text: EventText, _ batch: EventBatch, _ count: Int) {
  let words = batch.symbols.words.count
  for symbol in [event.name, event.app, event.product, event.previousProduct, event.country] {
    claim(symbol >= 0 && symbol < words, "a symbol is one of the batch")
  }
  claim(event.place.byteOffset < count && event.place.line >= 1, "a place is inside the bytes")
  let times = [
    event.time, event.created, event.received, event.periodStart, event.periodEnd,
    event.graceEnd, event.entitledUntil,
  ].compactMap { $0 }
  claim(
    times.allSatisfy { $0.milliseconds >= 0 && $0.milliseconds <= 253_402_300_799_999 },
    "times lie in 1970 to 9999")
  let amounts = [
    event.revenue?.local, event.revenue?.usd, event.revenue?.rate, event.price?.local,
    event.price?.usd,
  ].compactMap { $0 }
  claim(
    amounts.allSatisfy { $0.micros.magnitude <= 1_000_000_000_000_000_000 },
    "amounts are at most 10^12")
  claim(
    [event.revenue?.usd, event.price?.usd].allSatisfy {
      ($0 ?? .zero).magnitude <= .lineMaxUSD
    }, "and at most 10^9 in dollars")
  claim(event.renewalCount ?? 0 >= 0, "a count is not negative")
  for range in [text.transaction, text.original, text.user] {
    claim(Int(range.upperBound) <= batch.arena.count, "a text is in the arena")
  }
}

/// The value of a member `password` with at least 12 plain bytes that occur nowhere else.
private func secret(in bytes: UnsafeRawBufferPointer) -> ArraySlice<UInt8>? {
  let text = Array(bytes)
  let mark = Array("\"password\":\"".utf8)
  guard let found = text.firstRange(of: mark) else { return nil }
  let value = text[found.upperBound...].prefix { $0 != UInt8(ascii: "\"") }
  let isPlain = value.allSatisfy { $0 >= 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }
  guard value.count >= 12, isPlain, text.ranges(of: value).count == 1 else { return nil }
  return value
}

/// A single object with reversed members and escaped strings must give the same events.
private func judgeOtherWords(_ bytes: UnsafeRawBufferPointer, _ batch: EventBatch) {
  var tape = JSONTape()
  guard batch.lines == 1, end(of: bytes, on: &tape) != nil, tape.kind(0) == .object,
    tree(tape, 0) != nil
  else { return }
  let other = rewritten(tape, 0)
  var normaliser = Normaliser(rules: NormaliserSettings())
  let reportedAgain = withBytes(of: other) { normalised($0, by: &normaliser) }
  claim(contents(reportedAgain) == contents(batch), "other words bring the same events: \(other)")
  // If several things are wrong, the first in the text is reported.
  claim(reportedAgain.rejects.count == batch.rejects.count, "or a refusal, too")
  claim(reportedAgain.skipped == batch.skipped, "or the same reason to skip")
}

/// The content of a batch's events, independent of position and symbols, in a fixed order.
func contents(_ batch: EventBatch) -> [Content] {
  zip(batch.events, batch.texts).map { event, text in
    Content(event, text, of: batch)
  }.sorted { ($0.event.identity, $0.user, "\($0)") < ($1.event.identity, $1.user, "\($1)") }
}

/// One event with words instead of a batch's symbols.
struct Content: Equatable {
  var event: Event
  var words: [String]
  var transaction: String
  var original: String
  var user: String

  init(_ event: Event, _ text: EventText, of batch: EventBatch) {
    var event = event
    words = [
      event.name, event.app, event.product, event.previousProduct, event.country,
      event.storefront, event.revenue?.currency ?? 0, event.price?.currency ?? 0,
      event.observation?.group ?? 0,
    ].map { batch.symbols.words[Int($0)] }
    (event.name, event.app, event.product, event.previousProduct) = (0, 0, 0, 0)
    (event.country, event.storefront) = (0, 0)
    event.revenue?.currency = 0
    event.price?.currency = 0
    event.observation?.group = 0
    event.body = 0
    event.place = Provenance()
    self.event = event
    transaction = batch.text(text.transaction)
    original = batch.text(text.original)
    user = batch.text(text.user)
  }
}
