// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The files of a part of the history, as a ring: blocks are appended to the newest file, and when it is full the oldest one is
/// replaced. So nothing is ever rewritten for being kept, and only the number of blocks (not the clock) makes old ones leave. It
/// blocks: use it on the history's queue.
struct HistoryFiles: Sendable {
  let part: HistoryPart
  private let files: [any HistoryFile]
  private var state: KnownFiles?

  init(_ part: HistoryPart, _ files: [any HistoryFile]) { (self.part, self.files) = (part, files) }

  // MARK: - Reading

  /// The files that are there and have no bytes.
  var emptyFiles: [any HistoryFile] { files.filter { (try? $0.read(limit: 1))?.isEmpty == true } }

  /// The files, the oldest first.
  private func order() throws(AccessoryError) -> [(file: any HistoryFile, index: Int, sequence: UInt32)] {
    var order: [(file: any HistoryFile, index: Int, sequence: UInt32)] = []
    for (index, file) in files.enumerated() {
      guard let head = try file.read(limit: HistoryRecord.signature.count + 64) else { continue }
      // A file whose head is damaged is the oldest, so it is read and replaced first.
      var sequence: UInt32 = 0
      HistoryRecord.read(head, part, onRecord: { if case .head(part.number, let number) = $0 { sequence = number } }) {
        _ in
      }
      order.append((file, index, sequence))
    }
    return order.sorted { ($0.sequence, $0.index) < ($1.sequence, $1.index) }
  }

  /// Calls `body` with the blocks of the accessory `id` (all if nil) in the newest `count` files, oldest file first. `isWanted` gets
  /// the slot.
  func read(
    _ id: String? = nil, newest count: Int = .max, isWanted: (UInt32) -> Bool = { _ in true },
    _ body: (HistoryBlock) -> Void
  ) throws(AccessoryError) {
    for place in try order().suffix(count) {
      guard let bytes = try place.file.read(limit: part.bytesOfFile) else { continue }
      HistoryRecord.read(bytes, part, of: id, isWanted: isWanted, body)
    }
  }

  /// The last slot that was written of each accessory. Reads the newest files at the first call.
  mutating func lastSlots() throws(AccessoryError) -> [String: UInt32] { try open().lastSlots }

  private mutating func open() throws(AccessoryError) -> KnownFiles {
    if let state { return state }
    var opened = KnownFiles()
    let order = try order()
    for place in order.suffix(2) {
      guard let bytes = try place.file.read(limit: part.bytesOfFile) else { continue }
      let isNewest = place.index == order.last?.index
      HistoryRecord.read(
        bytes, part,
        onRecord: { record in
          guard isNewest, case .names(let names) = record else { return }
          opened.names[names.id] = (names, KnownFiles.repetition)
          opened.nextKey = max(opened.nextKey, names.key == .max ? .max : names.key + 1)
        }
      ) { block in
        if isNewest { opened.slots.insert(block.slot) }
        opened.lastSlots[block.id] = max(opened.lastSlots[block.id] ?? 0, block.slot)
      }
      // A file without a head may be no file of ours: it is replaced.
      if isNewest, place.sequence > 0 {
        (opened.current, opened.sequence, opened.bytes) = (place.index, place.sequence, bytes.count)
      }
    }
    state = opened
    return opened
  }

  // MARK: - Writing

  /// Appends blocks to a part whose owner says when it begins its next file, which then has these blocks alone. Returns the number of
  /// bytes.
  mutating func write(
    _ blocks: [HistoryBlock], at anchor: HistoryTimeline.Anchor, asWhole isWhole: Bool
  ) throws(AccessoryError) -> Int {
    var next = isWhole ? KnownFiles() : try open()
    state = nil
    if isWhole { next.begin() }
    var bytes: [UInt8] = []
    HistoryRecord.anchor(anchor).write(to: &bytes)
    for block in blocks { next.add(block, to: &bytes) }
    let count = try commit(bytes, &next, asFile: isWhole)
    state = next
    return count
  }

  /// Appends blocks. After an error the files are looked at again at the next call, and what wasn't written is asked for again.
  mutating func append(_ blocks: [HistoryBlock]) throws(AccessoryError) {
    var known = try open()
    state = nil
    var rest = blocks.sorted { ($0.slot, $0.id) < ($1.slot, $1.id) }[...]
    while let slot = rest.first?.slot {
      let sameSlot = rest.prefix { $0.slot == slot }
      var next = known
      var isNew = known.current == nil || !known.slots.contains(slot) && known.slots.count >= part.slotsOfFile
      if isNew { next.begin() }
      var (bytes, count) = next.add(sameSlot)
      if !isNew, known.bytes + bytes.count > part.bytesOfFile {
        (isNew, next) = (true, known)
        next.begin()
        (bytes, count) = next.add(sameSlot)
      }
      _ = try commit(bytes, &next, asFile: isNew)
      next.slots.insert(slot)
      known = next
      rest = rest.dropFirst(count)
    }
    state = known
  }

  /// Appends the bytes to the newest file, or replaces the oldest one with them. Returns the number of bytes.
  private func commit(_ bytes: [UInt8], _ state: inout KnownFiles, asFile isNew: Bool) throws(AccessoryError) -> Int {
    guard isNew else {
      guard let current = state.current else { throw AccessoryError(.notFound, "the history's file is gone") }
      try files[current].append(bytes)
      state.bytes += bytes.count
      return bytes.count
    }
    var whole = HistoryRecord.signature
    // Twice, because without a head the file would be taken for the oldest.
    for _ in 0..<2 { HistoryRecord.head(part: part.number, sequence: state.sequence).write(to: &whole) }
    whole += bytes
    let index = state.current.map { ($0 + 1) % files.count } ?? 0
    try files[index].replace(whole)
    (state.current, state.bytes) = (index, whole.count)
    return whole.count
  }
}

/// What is known of the files.
private struct KnownFiles: Sendable {
  /// The newest file; nil if there is none.
  var current: Int?
  var sequence: UInt32 = 0
  var bytes = 0
  /// The slots of the newest file's blocks.
  var slots: Set<UInt32> = []
  /// The names of the newest file, by accessory, and the number of blocks since they were written.
  var names: [String: (names: HistoryRecord.Names, age: Int)] = [:]
  var nextKey: UInt32 = 1
  /// The last slot of each accessory.
  var lastSlots: [String: UInt32] = [:]

  /// Names are repeated after this many blocks.
  static let repetition = 24
  /// The most bytes that are added at once, except for one accessory's.
  private static let pieceBytes = 1 << 20

  /// A new file, which has no names yet.
  mutating func begin() {
    sequence = sequence == .max ? 1 : sequence + 1
    (slots, names, nextKey) = ([], [:], 1)
  }

  /// The records of the first blocks, as many as are written at once.
  mutating func add(_ blocks: ArraySlice<HistoryBlock>) -> (bytes: [UInt8], count: Int) {
    var bytes: [UInt8] = []
    var count = 0
    for block in blocks where bytes.count < Self.pieceBytes {
      add(block, to: &bytes)
      count += 1
    }
    return (bytes, count)
  }

  /// The records of a block, with the names that it needs.
  mutating func add(_ block: HistoryBlock, to bytes: inout [UInt8]) {
    HistoryRecord.write(block, names(for: block, &bytes), to: &bytes)
    lastSlots[block.id] = block.slot
  }

  /// The names that include those of the block. Writes them if they are new, or not to be found in the last blocks.
  private mutating func names(for block: HistoryBlock, _ bytes: inout [UInt8]) -> HistoryRecord.Names {
    let wanted = block.series.map { HistoryRecord.Names.Series(name: $0.name, unit: $0.unit) }
    var (names, age) = self.names[block.id] ?? (.init(key: 0, id: block.id, series: []), Self.repetition)
    let missing = wanted.filter { !names.series.contains($0) }
    if !missing.isEmpty {
      let kept = names.series.filter { known in !missing.contains { $0.name == known.name } }
      names.series = kept.count + missing.count <= HistoryLimits.seriesLimit ? kept + missing : wanted
      names.key = nextKey
      nextKey = nextKey == .max ? 1 : nextKey + 1
    }
    if !missing.isEmpty || age >= Self.repetition {
      HistoryRecord.names(names).write(to: &bytes)
      // New ones once more with the next block: a damaged record doesn't cost all of them.
      age = missing.isEmpty ? 0 : Self.repetition - 1
    }
    self.names[block.id] = (names, age + 1)
    return names
  }
}
