// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

@testable import BridgeService

// A target for libFuzzer: the file of the history, as a disk or a stranger may have left it. The first byte says whether
// the records get right checksums.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 0 else { return 0 }
  let input = Array(UnsafeBufferPointer(start: data, count: count))
  // The second bit says whether it is a file of an earlier version.
  let signature = input[0] & 2 == 0 ? HistoryRecord.signature : OldHistoryRecord.recentSignature
  let file = signature + FuzzFile.records(of: input)
  let contents = HistoryContents(file, byteLimit: 65_536)
  precondition(contents.dropped <= file.count)
  precondition(contents.store.byteCount <= 65_536 || contents.store.accessories.count == 1)
  for accessory in contents.store.accessories.values {
    precondition(accessory.byteCount <= HistoryLimits.accessoryByteLimit)
  }
  // The history goes on with it, whatever the clocks say.
  var keeper = HistoryKeeper(
    uptime: MonotonicTime(nanoseconds: Int64(input[0]) * 1_000_000_000), wall: 1e9, boot: "", after: contents,
    byteLimit: 65_536)
  let now = MonotonicTime(nanoseconds: 300_000_000_000)
  for id in contents.store.accessories.keys.sorted().prefix(4) {
    let values: [(name: String, unit: String?, value: Double)] = [("x", nil, 1)]
    _ = keeper.note(values, of: id, at: now, wall: 2e9)
    let series = keeper.answer(of: id, last: nil, at: now, wall: 5e8).series(nil)
    for one in series {
      for (point, next) in zip(one.points, one.points.dropFirst()) {
        precondition(point.time < next.time && point.end <= next.time + 1e-6 && point.span > 0)
      }
    }
  }
  // What is written is read again.
  let again = FuzzFile(nil)
  let write = HistoryWrite(
    blocks: keeper.store.blocks(), isWhole: true, anchor: keeper.timeline.anchor(at: now, wall: 5e8))
  guard (try? HistoryDisk(again).write(write)) != nil else { preconditionFailure("memory takes everything") }
  precondition(HistoryContents(again.bytes.withLock { $0 ?? [] }, byteLimit: 65_536).dropped == 0)
  return 0
}
