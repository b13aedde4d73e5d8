import Domain
import Formats
import Providers

/// What the first lines of some files show: who sends events, and how products are called.
struct InputSample {
  /// How many events there were, by feed.
  private(set) var events: [[String]: Int] = [:]
  /// Products of events, by provider.
  private var sold: [Provider: Set<String>] = [:]
  /// What each user bought, by provider and user.
  private var bought: [[String]: Set<String>] = [:]
  /// Of each product that only snapshots name, how many users bought what.
  private(set) var unmapped: [String: [String: Int]] = [:]
  /// Files that there are, and those of them that could be read.
  private(set) var (found, read) = (0, 0)

  /// Files that are read at most, evenly from the list of all.
  private static let filesMax = 100
  /// Lines of a file from which on no more is read.
  private static let linesMax = 1_000

  /// There is enough of a file.
  private struct Enough: Error {}

  /// Adds what archives hold.
  mutating func addEvents(under paths: [String], stop: @escaping @Sendable () -> Int32) throws {
    for file in try files(under: paths, stop) {
      var normaliser = Normaliser(rules: NormaliserSettings())
      var batch = EventBatch()
      read += try Self.read(file) { chunk in
        if case .again = chunk { batch = EventBatch() }
        normaliser.add(chunk, apart: [], to: &batch)
        if batch.lines >= Self.linesMax { throw Enough() }
      }
      for (event, text) in zip(batch.events, batch.texts) {
        let word = { (symbol: StringID) in batch.symbols.words[Int(symbol)] }
        events[[event.provider.name, word(event.app)], default: 0] += 1
        guard event.product != 0 else { continue }
        sold[event.provider, default: []].insert(word(event.product))
        bought[[event.provider.name, batch.text(text.user)], default: []].insert(
          word(event.product))
      }
    }
  }

  /// Adds which products snapshots name otherwise than events, which come first.
  mutating func addSnapshots(under paths: [String], stop: @escaping @Sendable () -> Int32) throws {
    for file in try files(under: paths, stop) {
      var reader = SnapshotReader()
      var batch = SnapshotBatch()
      read += try Self.read(file) { chunk in
        if case .again = chunk { batch = SnapshotBatch() }
        // No time of this sample is kept.
        _ = reader.read(
          chunk, apart: [], capturedAtDefault: Instant(milliseconds: 0), to: &batch)
        if batch.lines >= Self.linesMax { throw Enough() }
      }
      for snapshot in batch.snapshots {
        for product in Set(snapshot.entitlements.map(\.product)) where !product.isEmpty {
          add(product, of: snapshot)
        }
      }
    }
  }

  private mutating func add(_ product: String, of snapshot: Snapshot) {
    guard sold[snapshot.provider]?.contains(product) != true else { return }
    let candidates = bought[[snapshot.provider.name, snapshot.user]] ?? []
    var votes = unmapped[product] ?? [:]
    // Of several products it is not known which one is meant.
    if candidates.count == 1, let only = candidates.first { votes[only, default: 0] += 1 }
    unmapped[product] = votes
  }

  private mutating func files(
    under paths: [String], _ stop: @escaping @Sendable () -> Int32
  ) throws -> [ArchiveFile] {
    let files = try ArchiveFolder.files(under: paths, stop: stop).files
    found += files.count
    let step = max(1, files.count / Self.filesMax)
    return files.enumerated().filter { $0.offset % step == 0 }.prefix(Self.filesMax)
      .map(\.element)
  }

  /// How many files were read: 1, or 0 for one that cannot be read.
  private static func read(
    _ file: ArchiveFile, _ body: (ArchiveChunk) throws -> Void
  ) throws -> Int {
    do {
      _ = try readArchive(file, body)
    } catch is Enough {
      return 1
    } catch is ForeignFile {
      return 0
    } catch let error as SubledgerError where error.isOfOneFile || error.kind == .noInput {
      return 0
    }
    return 1
  }
}
