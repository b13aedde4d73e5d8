// A published set on one page for people: figures, charts and tables from its CSV files.
public import Reports
internal import Formats
internal import Foundation
internal import Mustache

/// Writes `index.html` into the folder of `set`, from its `sums` and the rows of its CSV files.
///
/// The page shows only sums, greatest values and shares of printed cells, each with a reference to
/// them. It needs neither network nor scripts. `locale` changes only the number format.
///
/// - Throws: `SubledgerError` when a file cannot be read or written.
public func writePage(of set: ReportSet, _ sums: SetSums, in locale: PageLocale) throws {
  let model = try PageModel(SetContents(of: set, sums, Numbers(locale: locale)))
  var library = MustacheLibrary()
  for (name, template) in templates {
    try library.register(String(decoding: template, as: UTF8.self), named: name)
  }
  let style = PackageResources.page_css
  let view: [String: Any] = [
    "model": byName(model) ?? model, "style": String(decoding: style, as: UTF8.self),
    // The only style that the page's content security policy allows.
    "styleHash": base64(ofHex: sha256(of: style)),
  ]
  let page = library.render(view, withTemplate: "page") ?? ""
  try writeFile(Array(page.utf8), to: "\(set.folder)/\(pageName)")
}

/// Converts a model to dictionaries: in other types, the template library would search all members
/// for each name.
private func byName(_ value: Any) -> Any? {
  if value is any LosslessStringConvertible { return value }
  let mirror = Mirror(reflecting: value)
  let members = mirror.children.compactMap { member in
    byName(member.value).map { (member.label ?? "", $0) }
  }
  switch mirror.displayStyle {
  case .optional: return members.first?.1
  case .collection: return members.map(\.1)
  case .struct: return Dictionary(members) { first, _ in first }
  default: return value
  }
}

private let templates = [
  ("page", PackageResources.page_mustache), ("cards", PackageResources.cards_mustache),
  ("figure", PackageResources.figure_mustache),
]

private func base64(ofHex digits: String) -> String {
  let nibbles = digits.compactMap(\.hexDigitValue)
  let bytes = zip(nibbles, nibbles.dropFirst()).enumerated().filter { $0.offset % 2 == 0 }
  return Data(bytes.map { UInt8($0.element.0 << 4 | $0.element.1) }).base64EncodedString()
}
