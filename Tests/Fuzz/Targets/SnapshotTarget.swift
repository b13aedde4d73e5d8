import Formats
import Providers
import Domain

/// Snapshot lines: equal for every cut and repetition, with a substitute time where they have none.
func feedSnapshot(_ bytes: UnsafeRawBufferPointer) {
  let reader = SnapshotReader()
  let batch = read(bytes, by: reader)
  let again = read(bytes, by: reader)
  claim(same(again, batch), "reading twice gives the same")
  let fresh = SnapshotReader()
  var pieces = SnapshotBatch()
  var start = 0
  var line: Int64 = 1
  while start < bytes.count {
    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    fresh.read(
      .lines(part, firstLine: line, firstOffset: Int64(start)), capturedAtDefault: standIn,
      to: &pieces)
    start = end
    line += 1
  }
  claim(same(pieces, batch), "reading line by line gives the same")
  claim(!batch.needsCapturedAt, "something says when")
  claim(Int64(batch.rejects.count) <= batch.lines, "a line is rejected once")
  let rejected = Set(batch.rejects.map(\.place))
  for snapshot in batch.snapshots {
    claim(!rejected.contains(snapshot.place), "a rejected line brings nothing")
    claim(!snapshot.user.isEmpty, "a snapshot has a user")
    claim(isInCalendar(snapshot.capturedAt), "a snapshot's time is in 1970 to 9999")
    for right in snapshot.entitlements {
      claim(right.expiresAt.map(isInCalendar) ?? true, "an end is in 1970 to 9999")
      claim(right.renewsCount ?? 0 >= 0, "a count is not negative")
    }
  }
}

private let standIn = Instant(seconds: 1_772_323_200)

private func read(
  _ bytes: UnsafeRawBufferPointer, by reader: SnapshotReader
) -> SnapshotBatch {
  var batch = SnapshotBatch()
  reader.read(
    .lines(bytes, firstLine: 1, firstOffset: 0), capturedAtDefault: standIn, to: &batch)
  return batch
}

private func same(_ left: SnapshotBatch, _ right: SnapshotBatch) -> Bool {
  left.snapshots == right.snapshots && left.rejects == right.rejects && left.lines == right.lines
    && left.needsCapturedAt == right.needsCapturedAt
}

private func isInCalendar(_ instant: Instant) -> Bool {
  instant.milliseconds >= 0 && instant.milliseconds <= 253_402_300_799_999
}
