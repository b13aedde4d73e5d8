/// The rows of a CSV text by RFC 4180, header first.
public func csvRows(of text: String) -> [[String]] {
  var rows: [[String]] = []
  var row: [String] = []
  var cell = ""
  var isQuoted = false
  var characters = text.unicodeScalars.makeIterator()
  var pending = characters.next()
  while let scalar = pending {
    pending = characters.next()
    switch (scalar, isQuoted) {
    case ("\"", true) where pending == "\"":
      cell.unicodeScalars.append("\"")
      pending = characters.next()
    case ("\"", _): isQuoted.toggle()
    case (",", false):
      row.append(cell)
      cell = ""
    case ("\n", false):
      rows.append(row + [cell])
      row = []
      cell = ""
    default: cell.unicodeScalars.append(scalar)
    }
  }
  return rows
}
