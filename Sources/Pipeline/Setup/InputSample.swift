import Domain
import Formats
import Providers

/// What the first lines of some archives show: who sends events.
struct InputSample {
  /// How many events there were, by feed.
  private(set) var events: [[String]: Int] = [:]
  /// Files that there are, and those of them that could be read.
  private(set) var (found, read) = (0, 0)

  /// Files that are read at most, evenly from the list of all.
  private static let filesMax = 100
  /// Lines of a file from which on no more is read.
  private static let linesMax = 1_000

  /// There is enough of a file.
  private struct Enough: Error {}

  /// The sample of the archives under `paths`.
  init(of paths: [String], stop: @escaping @Sendable () -> Int32) throws {
    let files = try ArchiveFolder.files(under: paths, stop: stop).files
    found = files.count
    let step = max(1, files.count / Self.filesMax)
    for place in stride(from: 0, to: files.count, by: step).prefix(Self.filesMax) {
      var normaliser = Normaliser(rules: NormaliserSettings())
      var batch = EventBatch()
      do {
        _ = try readArchive(files[place]) { chunk in
          if case .again = chunk { batch = EventBatch() }
          normaliser.add(chunk, to: &batch)
          if batch.lines >= Self.linesMax { throw Enough() }
        }
        read += 1
      } catch is Enough {
        read += 1
      } catch is ForeignFile {
        // It is not among those that could be read.
      } catch let error as SubledgerError where error.isOfOneFile {
        // Nor is this one.
      }
      for event in batch.events {
        events[[event.provider.name, batch.symbols.words[Int(event.app)]], default: 0] += 1
      }
    }
  }
}
