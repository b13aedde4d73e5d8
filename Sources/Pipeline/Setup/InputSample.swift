import Domain
import Formats
import Providers

/// A sample of the first lines of some archives, which shows who sends events.
struct InputSample {
  /// Number of events, by feed.
  private(set) var events: [[String]: Int] = [:]
  /// Number of files, and of those that could be read.
  private(set) var (found, read) = (0, 0)

  /// Maximum number of files to read, evenly distributed over all.
  private static let filesMax = 100
  /// Number of lines after which the reading of a file stops.
  private static let linesMax = 1_000

  /// Thrown to stop the reading of a file.
  private struct Enough: Error {}

  /// Reads the sample of the archives under `paths`.
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
        // The file is not counted as read.
      } catch let error as SubledgerError where error.isOfOneFile {
        // This file is not counted as read, either.
      }
      for event in batch.events {
        events[[event.provider.name, batch.symbols.words[Int(event.app)]], default: 0] += 1
      }
    }
  }
}
