import Domain
import EventStore
import Formats
import Foundation
import Providers

extension Intake {
  /// Reads archives by Spark: events are written to the lake, the counts of lines to the ledger.
  func readArchives(
    _ files: [ArchiveFile], _ rules: NormaliserSettings, by spark: SparkEngine,
    into summary: inout IntakeSummary
  ) throws {
    try spark.removeLeftovers(of: ledger)
    guard !files.isEmpty else { return }
    let intake = try LakeIntake(into: ledger, schedules: plan.retrySchedules)
    let part = try spark.newPart(of: ledger)
    let listed = try spark.write(
      files.enumerated().map { "\($0)\t\(try StageCoding.field(ListedFile($1)))" }, as: "files")
    let job = try spark.job(ledger)
    try spark.run(
      spark.scripts.normalise(files: listed, part: part, job: job[0]), with: job)
    var archives = try ArchiveImport(of: files, by: intake, rules, for: self, summary: summary)
    defer { summary = archives.summary }
    let again = try RowFile(path: "\(spark.exchange)/\(spark.newName("again")).tsv")
    try account(of: part, by: spark, intake, &archives, again)
    let places = intake.waiting
    if try again.close() > 0 {
      try spark.run(spark.scripts.keep(rows: again.path, as: part.again))
    }
    try merge(places, by: spark, intake)
    archives.summary.add(try intake.commit())
  }

  /// Takes the rows of a part as if its files were read in this process.
  private func account(
    of part: String, by spark: SparkEngine, _ intake: LakeIntake,
    _ archives: inout ArchiveImport, _ again: RowFile
  ) throws {
    let rows = try spark.rows("rows") { spark.scripts.rows(of: part, into: $0) }
    var reader = ArchiveRowReader()
    try rows.forEachRow { row in
      guard let message = try reader.message(row) else { return }
      (intake.place.part, intake.place.file) = (part, reader.file)
      intake.place.attempt = reader.attempt
      // A file that continues an archive of this run is read again in this process.
      let (file, attempt) = (reader.file, reader.attempt + 1)
      var writer = ArchiveRowWriter(file: file, attempt: attempt, put: again.put)
      try archives.take(message, of: file) { message in
        try writer.add(message)
        (intake.place.part, intake.place.attempt) = (part.again, writer.attempt)
      }
    }
    try rows.remove()
  }

  /// Compares the new events with those of the same subscriptions in the lake.
  private func merge(
    _ places: [LakeArchive], by spark: SparkEngine, _ intake: LakeIntake
  ) throws {
    guard !places.isEmpty else { return }
    let known = try ledger.lakeArchives()
    let first = places[0].archive
    func take(_ archive: Int32, _ number: Int32, _ result: UInt8) throws {
      guard archive < first || intake.take(result, of: Int(number), in: archive) else {
        throw StageRows.malformed("results")
      }
    }
    let max = FoldScope.dirtyMax(of: try ledger.foldBasis())
    if !known.isEmpty,
      try spark.news(of: ledger, known + places, since: first - 1, max: max, note: take) != nil
    {
      return
    }
    let sets = try spark.place(known + places)
    try spark.rows(of: .merge, in: sets, ledger, since: first).forEachRow { row in
      let numbers = row.count == 2 ? row[1].split(separator: " ") : []
      guard numbers.count == 3, let archive = Int32(numbers[0]), let number = Int32(numbers[1]),
        let result = UInt8(numbers[2])
      else { throw StageRows.malformed("results") }
      try take(archive, number, result)
    }
  }
}

extension String {
  /// The name of the part for files that are read again.
  var again: String { self + "-again" }
}

/// A file of rows that is written row by row.
final class RowFile {
  let path: String
  private let file: FileHandle
  private var waiting: [UInt8] = []
  private var rows = 0

  init(path: String) throws {
    self.path = path
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { throw SubledgerError(.inputOutput, "cannot write \(path)") }
    self.file = file
  }

  func put(_ row: String) throws {
    rows += 1
    waiting += Array(row.utf8) + [UInt8(ascii: "\n")]
    if waiting.count > 1 << 20 { try flush() }
  }

  /// Closes the file and returns its number of rows.
  func close() throws -> Int {
    try flush()
    try file.close()
    return rows
  }

  /// Adds the rows, which are cells, to those of `ledger`.
  func addCells(to ledger: Ledger) throws {
    try forEachRow(of: path) { row in
      guard let cells = CellRows(text: row[0]) else {
        throw StageRows.malformed("cells")
      }
      try ledger.add(cells)
    }
  }

  private func flush() throws {
    try file.write(contentsOf: Data(waiting))
    waiting.removeAll(keepingCapacity: true)
  }
}
