import Domain

/// Writes the archives of a world, in order of delivery, within bounded memory.
///
/// An arrival is remembered in 16 bytes; its line is made from its life, lived again. Arrivals
/// that are too many to remember at once are written in several passes over all lives.
struct ArchiveWriter {
  let plan: WorldPlan
  let span: Span
  let subscribers: Int
  let folder: String
  /// Arrivals by UTC day of delivery, counted from the world's first day.
  let arrivalsByDay: [Int]
  let checkStop: StopCheck

  private static let passLimit = 2_000_000

  private struct Remembered {
    var received: Int64
    var person: UInt32
    var happening: UInt16
    var provider: Provider
    var arrival: UInt8

    var rank: UInt64 {
      UInt64(person) << 32 | UInt64(happening) << 16 | UInt64(provider.rawValue) << 8
        | UInt64(arrival)
    }
  }

  /// Writes everything and returns the number of files.
  func write() throws(SimulateError) -> Int {
    var sink = ArchiveSink(
      layout: plan.archives, total: arrivalsByDay.reduce(0, +), folder: folder,
      envelope: Envelope(share: plan.envelopedShare, span: span))
    var first = 0
    while first < arrivalsByDay.count {
      var last = first + 1
      var count = arrivalsByDay[first]
      while last < arrivalsByDay.count, count + arrivalsByDay[last] <= Self.passLimit {
        count += arrivalsByDay[last]
        last += 1
      }
      for arrival in try remember(days: first..<last, count: count) {
        try checkStop()
        let lived = Story.life(of: Int(arrival.person), in: plan, span: span)
        guard let life = lived.told(by: arrival.provider, span) else { continue }
        let index = Int(arrival.happening)
        let delivery = PostOffice(plan).delivery(of: index, in: life)
        try sink.write(delivery.arrivals[Int(arrival.arrival)], of: index, in: life)
      }
      first = last
    }
    return try sink.finish()
  }

  private func remember(
    days: Range<Int>, count: Int
  ) throws(SimulateError) -> [Remembered] {
    let from = (span.start + Int64(days.lowerBound) * day) * 1000
    let to = (span.start + Int64(days.upperBound) * day) * 1000
    let office = PostOffice(plan)
    var arrivals: [Remembered] = []
    arrivals.reserveCapacity(count)
    for number in 0..<subscribers {
      try checkStop()
      let lived = Story.life(of: number, in: plan, span: span)
      for life in plan.tellers.compactMap({ lived.told(by: $0, span) }) {
        for index in life.happenings.indices {
          for (copy, arrival) in office.delivery(of: index, in: life).arrivals.enumerated()
          where arrival.received >= from && arrival.received < to {
            arrivals.append(
              Remembered(
                received: arrival.received, person: UInt32(number), happening: UInt16(index),
                provider: life.person.shop.provider, arrival: UInt8(copy)))
          }
        }
      }
    }
    arrivals.sort { left, right in
      left.received == right.received ? left.rank < right.rank : left.received < right.received
    }
    return arrivals
  }
}

/// Cuts the stream of lines into files.
private struct ArchiveSink {
  let layout: ArchiveLayout
  let total: Int
  let folder: String
  var envelope: Envelope
  private var file: GzipFile?
  private var name = ""
  private var files = 0
  private var lines = 0
  private var buffer = Bytes()

  init(layout: ArchiveLayout, total: Int, folder: String, envelope: Envelope) {
    self.layout = layout
    self.total = total
    self.folder = folder
    self.envelope = envelope
    buffer.reserve(1 << 17)
  }

  mutating func write(_ arrival: Arrival, of index: Int, in life: Life) throws(SimulateError) {
    let wanted = fileName(arrival)
    if wanted != name {
      try close()
      name = wanted
      file = try GzipFile(path: "\(folder)/\(wanted)")
      files += 1
    }
    envelope.write(arrival, of: index, in: life, into: &buffer)
    lines += 1
    if buffer.array.count > 1 << 16 { try flush() }
  }

  mutating func finish() throws(SimulateError) -> Int {
    try close()
    return files
  }

  private func fileName(_ arrival: Arrival) -> String {
    switch layout {
    case .perDay: return "\(civilDay(of: arrival.received / 1000).text).jsonl.gz"
    case .count(let count):
      let number = String(lines * count / max(total, 1) + 1)
      return "part-\(String(repeating: "0", count: max(0, 4 - number.count)))\(number).jsonl.gz"
    }
  }

  private mutating func flush() throws(SimulateError) {
    try file?.write(buffer)
    buffer.removeAll()
  }

  private mutating func close() throws(SimulateError) {
    try flush()
    try file?.finish()
    file = nil
  }
}
