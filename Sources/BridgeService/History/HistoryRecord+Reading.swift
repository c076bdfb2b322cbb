// SPDX-License-Identifier: Apache-2.0

extension HistoryRecord {
  /// Calls `onRecord` with the heads, anchors and names in the bytes of a file of `part`, also of an older version, and then `body` with
  /// the blocks of the accessory `id`; of all if nil. `isWanted` gets a block's slot. Returns the number of bytes outside of valid
  /// records; see `HistoryFrame`.
  @discardableResult
  static func read(
    _ bytes: [UInt8], _ part: HistoryPart, of id: String? = nil, isWanted: (UInt32) -> Bool = { _ in true },
    onRecord: (HistoryRecord) -> Void = { _ in }, _ body: (HistoryBlock) -> Void
  ) -> Int {
    if bytes.starts(with: OldHistoryRecord.recentSignature) {
      // Twice, so that here, too, all anchors come before the first block, and no block needs to be kept.
      _ = OldHistoryRecord.read(bytes, onAnchor: { onRecord(.anchor($0)) }) { _ in }
      return OldHistoryRecord.read(bytes, onAnchor: { _ in }) { if id == nil || $0.id == id { body($0) } }
    }
    let isOld = bytes.starts(with: OldHistoryRecord.longSignature)
    // The records' checksums are computed once. Blocks are decoded afterwards, since the first names of a block may be damaged, and
    // follow later; those of other accessories and times aren't decoded at all.
    var names: [UInt32: Names] = [:]
    var blocks: [(head: BlockHead, rest: HistoryFrame.Reader)] = []
    var dropped = HistoryFrame.read(bytes, after: isOld ? OldHistoryRecord.longSignature : signature) { content in
      var (rest, oldRest) = (HistoryFrame.Reader(content), HistoryFrame.Reader(content))
      if let head = head(of: &rest, in: part) {
        if isWanted(head.slot) { blocks.append((head, rest)) }
      } else if isOld, let head = OldHistoryRecord.head(of: &oldRest, in: part) {
        if isWanted(head.slot) { blocks.append((head, oldRest)) }
      } else {
        guard let record = HistoryRecord(content) else { return false }
        if case .names(let known) = record, id == nil || known.id == id { names[known.key] = known }
        onRecord(record)
      }
      return true
    }
    for (head, rest) in blocks {
      guard let names = names[head.key] else { continue }
      var reader = rest
      if let block = block(head, names, &reader) { body(block) } else { dropped += rest.count }
    }
    return dropped
  }
}
