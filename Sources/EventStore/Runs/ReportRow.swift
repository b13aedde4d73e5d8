/// A row of a report as stored in the ledger.
public struct ReportRow: Sendable, Equatable {
  /// The key columns, encoded.
  public let key: [UInt8]
  /// The other columns, encoded.
  public let values: [UInt8]
  /// Whether no later delivery is expected to change the row.
  public let isComplete: Bool
}

extension ReportRow {
  /// Encodes a row.
  public init(key: [LedgerValue], values: [LedgerValue], isComplete: Bool) {
    self.init(key: Self.encode(key), values: Self.encode(values), isComplete: isComplete)
  }

  /// Decodes the cells of a key or of values; nil if they are damaged.
  public static func decode(_ bytes: [UInt8]) -> [LedgerValue]? {
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      let first = reader.unsigned()
      let nulls = first >> 1
      let texts = first & 1 == 0 ? 0 : reader.unsigned()
      var cells: [LedgerValue] = []
      while !reader.isAtEnd || nulls >> UInt64(cells.count) != 0 {
        guard reader.isSound, cells.count < cellsMax else { return nil }
        let bit: UInt64 = 1 << UInt64(cells.count)
        if nulls & bit != 0 {
          cells.append(.null)
        } else if texts & bit != 0 {
          cells.append(.text(reader.string()))
        } else {
          cells.append(.integer(reader.signed()))
        }
      }
      return reader.isSound ? cells : nil
    }
  }

  /// Encodes which cells are absent and which, if any, are texts, one bit each, and then the cells.
  private static func encode(_ cells: [LedgerValue]) -> [UInt8] {
    precondition(cells.count <= cellsMax, "a bit shows of each cell whether it is absent")
    var (nulls, texts): (UInt64, UInt64) = (0, 0)
    for (index, cell) in cells.enumerated() {
      switch cell {
      case .null: nulls |= 1 << UInt64(index)
      case .text: texts |= 1 << UInt64(index)
      case .integer: break
      }
    }
    var writer = ByteWriter(capacity: 4 * cells.count)
    writer.put(unsigned: nulls << 1 | (texts == 0 ? 0 : 1))
    if texts != 0 { writer.put(unsigned: texts) }
    for cell in cells {
      switch cell {
      case .null: break
      case .integer(let number): writer.put(number)
      case .text(let text): writer.put(text)
      }
    }
    return writer.bytes
  }
}

/// Number of cells that fit next to the flag for texts.
private let cellsMax = 63

extension [ReportRow] {
  /// All rows in one blob, in order.
  public var packed: [UInt8] {
    var writer = ByteWriter()
    for row in self {
      row.key.withUnsafeBytes { writer.put($0) }
      row.values.withUnsafeBytes { writer.put($0) }
      writer.put(byte: row.isComplete ? 1 : 0)
    }
    return writer.bytes
  }

  /// Decodes the rows of `packed`; nil if they are damaged.
  init?(packed bytes: UnsafeRawBufferPointer) {
    var reader = ByteReader(bytes)
    self.init()
    while !reader.isAtEnd {
      append(
        ReportRow(
          key: [UInt8](reader.text()), values: [UInt8](reader.text()),
          isComplete: reader.byte() == 1))
      guard reader.isSound else { return nil }
    }
  }
}
