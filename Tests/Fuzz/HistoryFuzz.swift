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
  var file = HistoryRecord.signature
  if input[0] & 1 == 0 {
    file += input[1...]
  } else {
    // Pieces of the input as contents of records.
    var rest = input[1...]
    while let length = rest.popFirst() {
      let content = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(content.count)
      HistoryFrame.write(content, to: &file)
    }
  }
  let contents = HistoryContents(file, byteLimit: 65_536)
  precondition(contents.dropped <= file.count)
  precondition(contents.store.byteCount <= 65_536 || contents.store.accessories.count == 1)
  for accessory in contents.store.accessories.values {
    precondition(accessory.byteCount <= HistoryLadder.accessoryByteLimit)
  }
  // The history goes on with it, whatever the clocks say.
  var keeper = HistoryKeeper(
    uptime: MonotonicTime(nanoseconds: Int64(input[0]) * 1_000_000_000), wall: 1e9, boot: "", after: contents,
    byteLimit: 65_536)
  let now = MonotonicTime(nanoseconds: 300_000_000_000)
  for id in contents.store.accessories.keys.sorted().prefix(4) {
    let values: [(name: String, unit: String?, value: Double)] = [("x", nil, 1)]
    _ = keeper.note(values, of: id, at: now, wall: 2e9)
    let series = keeper.extract(of: id, last: nil, at: now, wall: 5e8)?.series(nil) ?? []
    for one in series {
      for (point, next) in zip(one.points, one.points.dropFirst()) {
        precondition(point.time < next.time && point.end <= next.time + 1e-6 && point.span > 0)
      }
    }
  }
  // What is written is read again.
  var again = HistoryRecord.signature
  HistoryRecord.anchor(keeper.timeline.anchor(at: now, wall: 5e8)).write(to: &again)
  for entry in keeper.store.entries { HistoryRecord.spans(entry).write(to: &again) }
  precondition(HistoryContents(again, byteLimit: 65_536).dropped == 0)
  return 0
}
