import Domain
import EventStore
import Formats

extension Plan {
  /// Returns the files that affect the numbers, for the ledger to store.
  func documents() -> RunDocuments {
    var documents = RunDocuments()
    documents.configuration = configuration.source.map { Document($0) }
    documents.prices = (prices?.source).map { Document($0) }
    documents.decisions = decisions.source.map { Document($0) }
    return documents
  }
}

extension Document {
  init(_ content: [UInt8]) {
    self.init(sha256: Formats.sha256(of: content), body: gzipMember(of: content))
  }

  /// Returns the content of the document.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` when its content does not match its SHA-256.
  func content() throws(SubledgerError) -> [UInt8] {
    if let content = gzipContent(of: body, bytesMax: writtenBytesMax),
      Formats.sha256(of: content) == contentSHA256
    {
      return content
    }
    throw SubledgerError(
      .damagedInput, "cannot read the document \(sha256) of the ledger: it is damaged",
      hint: "keep the file, and rebuild the ledger from the archives in a new one")
  }
}
