// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: telnet's commands and the messages of RFC 2217 in them. The first byte says where the stream is cut.

/// What the events say, with pieces of data joined, which may come in any.
private func joined(_ events: [TelnetDecoder.Event]) -> [TelnetDecoder.Event] {
  var result: [TelnetDecoder.Event] = []
  for event in events {
    if case .data(let new) = event, case .data(let old)? = result.last {
      result[result.count - 1] = .data(old + new)
    } else {
      result.append(event)
    }
  }
  return result
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  var whole = TelnetDecoder()
  var events: [TelnetDecoder.Event] = []
  whole.decode(bytes, into: &events)
  precondition(whole.pendingCount <= TelnetDecoder.longestSubnegotiation)

  let size = Int(choice) % 7 + 1
  var cut = TelnetDecoder()
  var pieces: [TelnetDecoder.Event] = []
  var start = 0
  while start < bytes.count {
    cut.decode(Array(bytes[start..<min(start + size, bytes.count)]), into: &pieces)
    start += size
  }
  precondition(joined(events) == joined(pieces), "the pieces make a difference")

  var options = TelnetOptions(ours: [.binary, .comPort], theirs: [.binary, .suppressGoAhead])
  for event in events {
    switch event {
    case .data(let data):
      var decoder = TelnetDecoder()
      var again: [TelnetDecoder.Event] = []
      decoder.decode(Telnet.escaped(data), into: &again)
      precondition(again == [event])
    case .option(let verb, let option):
      precondition(options.receive(verb, option).count <= 3)
    case .subnegotiation(_, let payload):
      for fromServer in [false, true] {
        guard let message = COMPortMessage(payload, fromServer: fromServer) else { continue }
        precondition(COMPortMessage(message.payload(fromServer: fromServer), fromServer: fromServer) == message)
      }
    case .command: break
    }
  }
  return 0
}
