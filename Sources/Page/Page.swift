// A published set on one page for people: sums of its CSV files as figures, charts and tables.
internal import Domain
public import Reports

internal import Formats
internal import Mustache

/// Writes `index.html` into the folder of `set`, from the rows of its CSV files.
///
/// The page shows nothing but sums, greatest values and shares of printed cells, and says beside
/// each of which. It needs neither network nor script. `locale` changes how numbers look.
///
/// - Throws: `SubledgerError` when a file cannot be read or written.
public func writePage(of set: ReportSet, in locale: PageLocale) throws {
  let numbers = Numbers(locale: locale)
  let model = try PageModel(SetContents(of: set), numbers)
  var library = MustacheLibrary()
  for (name, template) in templates {
    try library.register(String(decoding: template, as: UTF8.self), named: name)
  }
  let style = String(decoding: PackageResources.page_css, as: UTF8.self)
  let view = PageView(model, style: style)
  let page = library.render(view, withTemplate: "page") ?? ""
  try writeFile(Array(page.utf8), to: "\(set.folder)/\(pageName)")
}

private let templates = [
  ("page", PackageResources.page_mustache), ("cards", PackageResources.cards_mustache),
  ("figure", PackageResources.figure_mustache),
]

/// What the templates show: the page's model and what surrounds it.
struct PageView {
  let model: PageModel
  let style: String
  /// The only style that the page's own policy allows.
  let styleHash: String
  let definitions: [Definition]

  init(_ model: PageModel, style: String) {
    self.model = model
    self.style = style
    styleHash = base64(ofHex: sha256(of: Array(style.utf8)))
    definitions = model.definitions
  }
}

/// The bytes that hexadecimal digits write, in base 64.
private func base64(ofHex digits: String) -> String {
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  let nibbles = digits.compactMap(\.hexDigitValue)
  var text = ""
  // Three digits are two letters; an ending of fewer digits is filled with zeros.
  for start in stride(from: 0, to: nibbles.count, by: 3) {
    let part = (nibbles[start..<min(start + 3, nibbles.count)] + [0, 0]).prefix(3)
    let bits = part.reduce(0) { $0 << 4 | $1 }
    text.append(alphabet[bits >> 6])
    if start + 1 < nibbles.count { text.append(alphabet[bits & 63]) }
  }
  return text + String(repeating: "=", count: (4 - text.count % 4) % 4)
}
