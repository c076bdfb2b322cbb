// SPDX-License-Identifier: Apache-2.0

// A target for libFuzzer: what clients send to the control socket, cut into messages and read as JSON. Compiled together
// with the readers' own sources.

/// All messages of `stream`, given in pieces of `piece` bytes.
private func messages(_ stream: UnsafeRawBufferPointer, piece: Int, limit: Int) -> (all: [[UInt8]], isTooLong: Bool) {
  var splitter = MessageSplitter(limit: limit)
  var all: [[UInt8]] = []
  var start = 0
  while true {
    switch splitter.next() {
    case .message(let message):
      precondition(message.count <= limit && !message.contains(0), "a message is none")
      all.append(message)
    case .tooLong: return (all, true)
    case .nothing:
      precondition(splitter.count <= limit, "more is kept than may be")
      if start == stream.count { return (all, false) }
      let end = min(stream.count, start + piece)
      splitter.append(UnsafeRawBufferPointer(rebasing: stream[start..<end]))
      start = end
    }
  }
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let stream = UnsafeRawBufferPointer(start: data, count: count)
  let limit = 1_000
  let whole = messages(stream, piece: max(1, count), limit: limit)
  for piece in [1, 7] {
    let cut = messages(stream, piece: piece, limit: limit)
    precondition(cut.all == whole.all && cut.isTooLong == whole.isTooLong, "cuts matter")
  }
  for message in whole.all {
    guard let value = try? JSON(message) else { continue }
    precondition(depth(value) <= JSON.depthLimit, "it is deeper than allowed")
    precondition((try? JSON(value.bytes)) == value, "a value does not survive writing")
  }
  return 0
}

private func depth(_ value: JSON) -> Int {
  switch value {
  case .array(let values): 1 + (values.map(depth).max() ?? 0)
  case .object(let fields): 1 + (fields.values.map(depth).max() ?? 0)
  default: 0
  }
}
