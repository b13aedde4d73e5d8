// The only file that uses libxlsxwriter, if its package was installed at build time.

#if XLSX
  internal import CXlsx
  internal import Domain
  internal import Glibc

  /// A workbook whose sheets are written row by row; temporary files buffer the rows.
  final class WorkbookFile {
    private let path: String
    private let folder: String
    private let book: UnsafeMutablePointer<lxw_workbook>
    private var sheets: [UnsafeMutablePointer<lxw_worksheet>] = []
    private var formats: [String: UnsafeMutablePointer<lxw_format>] = [:]
    private let bold: UnsafeMutablePointer<lxw_format>?
    private var isOpen = true

    /// A workbook created at `created` that buffers its rows in the folder `temporary`.
    init(_ path: String, created: Instant, in temporary: String) throws(SubledgerError) {
      self.path = path
      folder = temporary
      let book = temporary.withCString { folder in
        var options = lxw_workbook_options(
          constant_memory: 1, tmpdir: UnsafeMutablePointer(mutating: folder), use_zip64: 0)
        return workbook_new_opt(path, &options)
      }
      guard let book else { throw .system("make the workbook", path, .cannotCreate) }
      self.book = book
      var properties = lxw_doc_properties()
      // 0 would mean the current time.
      properties.created = max(1, Int(created.milliseconds / 1000))
      workbook_set_properties(book, &properties)
      bold = workbook_add_format(book)
      format_set_bold(bold)
    }

    /// Adds a sheet after the others with its first row frozen; returns its number.
    func addSheet(_ name: String) throws(SubledgerError) -> Int {
      guard let sheet = workbook_add_worksheet(book, name) else { throw unwritten() }
      worksheet_freeze_panes(sheet, 1, 0)
      sheets.append(sheet)
      return sheets.count - 1
    }

    /// Writes a cell; the rows of a sheet must be written in order.
    func write(
      _ cell: WorkbookCell, _ sheet: Int, row: Int, column: Int, isBold: Bool = false
    ) throws(SubledgerError) {
      let (sheet, row, column) = (sheets[sheet], lxw_row_t(row), lxw_col_t(column))
      let result =
        switch cell {
        case .empty: LXW_NO_ERROR
        case .text(let text):
          worksheet_write_string(sheet, row, column, text, isBold ? bold : nil)
        case .number(let number, let decimals):
          worksheet_write_number(
            sheet, row, column, number,
            format(decimals == 0 ? "0" : "0." + String(repeating: "0", count: decimals)))
        case .day(let day):
          worksheet_write_number(sheet, row, column, Double(day), format("yyyy-mm-dd"))
        case .month(let day):
          worksheet_write_number(sheet, row, column, Double(day), format("yyyy-mm"))
        case .flag(let flag):
          worksheet_write_boolean(
            sheet, row, column, flag ? 1 : 0, format(#""true";"true";"false""#))
        }
      guard result == LXW_NO_ERROR else { throw unwritten() }
    }

    /// Sets the width of a sheet's columns to `widths` letters, and adds a filter to its rows.
    func lay(out sheet: Int, widths: [Int], rows: Int) {
      for (column, width) in widths.enumerated() {
        let column = lxw_col_t(column)
        worksheet_set_column(sheets[sheet], column, column, Double(width), nil)
      }
      worksheet_autofilter(sheets[sheet], 0, 0, lxw_row_t(rows), lxw_col_t(widths.count - 1))
    }

    func finish() throws(SubledgerError) {
      // The library ignores a full disk under its temporary files, which it also copies.
      var largest: Int64 = 0
      for sheet in sheets {
        guard let rows = sheet.pointee.optimize_tmpfile, fflush(rows) == 0, ferror(rows) == 0
        else { throw withoutRoom(errno) }
        largest = max(largest, Int64(ftello(rows)))
      }
      var room = statvfs()
      guard statvfs(folder, &room) == 0 else { throw withoutRoom(errno) }
      guard Int64(room.f_bavail) * Int64(room.f_frsize) > largest + 1 << 20 else {
        throw withoutRoom(ENOSPC)
      }
      isOpen = false
      guard workbook_close(book) == LXW_NO_ERROR else { throw unwritten() }
    }

    private func unwritten() -> SubledgerError { .system("write the workbook", path) }

    private func withoutRoom(_ cause: Int32) -> SubledgerError {
      .system("write rows of the workbook to \(folder)", cause: cause, at: "TMPDIR")
    }

    private func format(_ code: String) -> UnsafeMutablePointer<lxw_format>? {
      if let known = formats[code] { return known }
      let format = workbook_add_format(book)
      format_set_num_format(format, code)
      formats[code] = format
      return format
    }

    deinit { if isOpen { lxw_workbook_free(book) } }
  }
#endif
