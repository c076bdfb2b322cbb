// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The files of one tier, as a ring: blocks are appended to the newest file, and when it is full the oldest one is replaced. So nothing
/// is ever rewritten for being kept, and only the number of blocks (not the clock) makes old ones leave. It blocks: use it on the
/// history's queue.
struct LongRing: Sendable {
  let tier: LongTier
  private let files: [any HistoryFile]
  private var state: State?

  /// What is known of the files.
  private struct State: Sendable {
    /// The newest file; nil if there is none.
    var current: Int?
    var sequence: UInt32 = 0
    var bytes = 0
    /// The slots of the newest file's blocks.
    var slots: Set<UInt32> = []
    /// The names of the newest file, by accessory, and the number of blocks since they were written.
    var names: [String: (names: LongRecord.Names, age: Int)] = [:]
    var nextKey: UInt32 = 1
    /// The last slot of each accessory.
    var lastSlots: [String: UInt32] = [:]
  }

  /// Names are repeated after this many blocks.
  private static let repetition = 24
  /// The most bytes that are appended at once, except for one accessory's.
  private static let pieceBytes = 1 << 20

  init(_ tier: LongTier, _ files: [any HistoryFile]) { (self.tier, self.files) = (tier, files) }

  // MARK: - Reading

  /// The files that are there and have no bytes.
  var emptyFiles: [any HistoryFile] { files.filter { (try? $0.read(limit: 1))?.isEmpty == true } }

  /// The files, the oldest first.
  private func order() throws(AccessoryError) -> [(file: any HistoryFile, index: Int, sequence: UInt32)] {
    var order: [(file: any HistoryFile, index: Int, sequence: UInt32)] = []
    for (index, file) in files.enumerated() {
      guard let head = try file.read(limit: LongRecord.signature.count + 64) else { continue }
      // A file whose head is damaged is the oldest, so it is read and replaced first.
      var sequence: UInt32 = 0
      _ = HistoryFrame.read(head, after: LongRecord.signature) { content in
        guard case .head(tier.number, let number)? = LongRecord(content, tier) else { return false }
        sequence = number
        return true
      }
      order.append((file, index, sequence))
    }
    return order.sorted { ($0.sequence, $0.index) < ($1.sequence, $1.index) }
  }

  /// Calls `body` with the blocks of the accessory `id` (all if nil) in the newest `count` files, oldest file first. `isWanted` gets
  /// the slot.
  func read(
    _ id: String? = nil, newest count: Int = .max, isWanted: (UInt32) -> Bool = { _ in true },
    _ body: (LongBlock) -> Void
  ) throws(AccessoryError) {
    for place in try order().suffix(count) {
      guard let bytes = try place.file.read(limit: tier.bytesOfFile) else { continue }
      Self.read(bytes, tier, id, isWanted: isWanted, body)
    }
  }

  /// Calls `onNames` with the names in the bytes of a file, and then `body` with the blocks. Returns the number of bytes outside of
  /// valid records.
  @discardableResult
  static func read(
    _ bytes: [UInt8], _ tier: LongTier, _ id: String? = nil, isWanted: (UInt32) -> Bool = { _ in true },
    onNames: (LongRecord.Names) -> Void = { _ in }, _ body: (LongBlock) -> Void
  ) -> Int {
    // The records' checksums are computed once. Blocks are decoded afterwards, since the first names of a block may be damaged, and
    // follow later; those of other accessories and times aren't decoded at all.
    var names: [UInt32: LongRecord.Names] = [:]
    var blocks: [(key: UInt32, content: Range<Int>)] = []
    var dropped = HistoryFrame.read(bytes, after: LongRecord.signature) { content in
      if let head = LongRecord.head(ofBlock: content) {
        if isWanted(head.slot) { blocks.append((head.key, content.indices)) }
        return true
      }
      guard let record = LongRecord(content, tier) else { return false }
      if case .names(let known) = record, id == nil || known.id == id {
        names[known.key] = known
        onNames(known)
      }
      return true
    }
    for place in blocks {
      guard let names = names[place.key] else { continue }
      if case .block(let block)? = LongRecord(bytes[place.content], tier) {
        body(LongBlock(block, names))
      } else {
        dropped += place.content.count
      }
    }
    return dropped
  }

  // MARK: - Writing

  /// The last slot that was written of each accessory. Reads the newest files at the first call.
  mutating func lastSlots() throws(AccessoryError) -> [String: UInt32] { try open().lastSlots }

  private mutating func open() throws(AccessoryError) -> State {
    if let state { return state }
    var opened = State()
    let order = try order()
    for place in order.suffix(2) {
      guard let bytes = try place.file.read(limit: tier.bytesOfFile) else { continue }
      let isNewest = place.index == order.last?.index
      Self.read(
        bytes, tier,
        onNames: { names in
          guard isNewest else { return }
          opened.names[names.id] = (names, Self.repetition)
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

  /// Appends blocks. After an error the files are looked at again at the next call, and what wasn't written is asked for again.
  mutating func append(_ blocks: [LongBlock]) throws(AccessoryError) {
    var state = try open()
    self.state = nil
    var rest = blocks[...]
    while let slot = rest.first?.slot {
      let sameSlot = rest.prefix { $0.slot == slot }
      try append(sameSlot, of: slot, &state)
      rest = rest.dropFirst(sameSlot.count)
    }
    self.state = state
  }

  private func append(
    _ blocks: ArraySlice<LongBlock>, of slot: UInt32, _ state: inout State
  ) throws(AccessoryError) {
    var rest = blocks
    while !rest.isEmpty {
      let isFull = !state.slots.contains(slot) && state.slots.count >= tier.slotsOfFile
      var next = state
      if isFull || state.current == nil { Self.begin(&next) }
      var (bytes, count) = Self.bytes(rest, tier, &next)
      if state.current != nil, !isFull, state.bytes + bytes.count > tier.bytesOfFile {
        next = state
        Self.begin(&next)
        (bytes, count) = Self.bytes(rest, tier, &next)
      }
      if next.sequence == state.sequence, let current = state.current {
        try files[current].append(bytes)
      } else {
        let index = state.current.map { ($0 + 1) % files.count } ?? 0
        var whole = LongRecord.signature
        // Twice, because without a head the file would be taken for the oldest.
        for _ in 0..<2 { LongRecord.head(tier: tier.number, sequence: next.sequence).write(to: &whole, tier) }
        bytes = whole + bytes
        try files[index].replace(bytes)
        (next.current, next.bytes) = (index, 0)
      }
      next.bytes += bytes.count
      next.slots.insert(slot)
      state = next
      rest = rest.dropFirst(count)
    }
  }

  /// A new file, which has no names yet.
  private static func begin(_ state: inout State) {
    state.sequence = state.sequence == .max ? 1 : state.sequence + 1
    (state.slots, state.names, state.nextKey) = ([], [:], 1)
  }

  /// The records of the first blocks, as many as are written at once, with the names that they need.
  private static func bytes(
    _ blocks: ArraySlice<LongBlock>, _ tier: LongTier, _ state: inout State
  ) -> (bytes: [UInt8], count: Int) {
    var bytes: [UInt8] = []
    var count = 0
    for block in blocks {
      if bytes.count >= pieceBytes { break }
      let names = names(for: block, &state, &bytes, tier)
      let indices = Dictionary(names.series.enumerated().map { ($1.name, UInt8(clamping: $0)) }) { first, _ in first }
      let series = block.series.compactMap { one in indices[one.name].map { (index: $0, buckets: one.buckets) } }
      LongRecord.block(.init(key: names.key, slot: block.slot, series: series, energy: block.energy)).write(
        to: &bytes, tier)
      state.lastSlots[block.id] = block.slot
      count += 1
    }
    return (bytes, count)
  }

  /// The names that include those of the block. Writes them if they are new, or not to be found in the last blocks.
  private static func names(
    for block: LongBlock, _ state: inout State, _ bytes: inout [UInt8], _ tier: LongTier
  ) -> LongRecord.Names {
    let wanted = block.series.map { LongRecord.Names.Series(name: $0.name, unit: $0.unit) }
    var (names, age) = state.names[block.id] ?? (.init(key: 0, id: block.id, series: []), repetition)
    let missing = wanted.filter { !names.series.contains($0) }
    if !missing.isEmpty {
      let kept = names.series.filter { known in !missing.contains { $0.name == known.name } }
      names.series = kept.count + missing.count <= LongTier.seriesLimit ? kept + missing : wanted
      names.key = 0
    }
    if names.key == 0 || age >= repetition {
      if names.key == 0 {
        names.key = state.nextKey
        state.nextKey = state.nextKey == .max ? 1 : state.nextKey + 1
      }
      LongRecord.names(names).write(to: &bytes, tier)
      age = 0
    }
    state.names[block.id] = (names, age + 1)
    return names
  }
}

extension LongBlock {
  /// A block as it was read, with its names.
  init(_ block: LongRecord.Block, _ names: LongRecord.Names) {
    self.init(
      id: names.id, slot: block.slot,
      series: block.series.compactMap { one in
        guard Int(one.index) < names.series.count else { return nil }
        let known = names.series[Int(one.index)]
        return Series(name: known.name, unit: known.unit, buckets: one.buckets)
      }, energy: block.energy)
  }
}
