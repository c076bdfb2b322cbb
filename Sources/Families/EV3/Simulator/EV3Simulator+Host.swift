// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

// The connection to the host.

extension EV3Simulator {
  /// After this pause an unfinished message is dropped.
  private static let requestTimeout = Duration.milliseconds(500)

  package func connected(_ transport: any Transport) {
    greeting = host.plug?.isNetwork == true ? EV3GreetingReader() : nil
  }

  package func received() {
    switch greeting?.take(host.buffer) {
    case .accepted(let reply)?:
      greeting = nil
      return offer(reply)
    case .refused?:
      host.plug?.transport?.beginClose()
      return
    case .unfinished?: return
    case nil: break
    }
    decode(keepsMessages: host.plug?.transport?.input.keepsMessages == true)
    takeAll()
    arrivals += 1
    if codec.hasUnfinishedFrame { watchSilence(since: arrivals) }
  }

  private func decode(keepsMessages: Bool) {
    let bytes = host.buffer
    guard keepsMessages else { return codec.decode(bytes.span.bytes, into: &batch) }
    // A report is a message with padding.
    var start = 0
    for count in host.messages {
      let report = bytes[start..<(start + count)]
      start += count
      guard report.count >= 2 else { continue }
      let length = Int(report[report.startIndex]) | Int(report[report.startIndex + 1]) << 8
      let message = Array(report.prefix(2 + length))
      codec.decode(message.span.bytes, into: &batch)
      codec.reset()
    }
  }

  private func watchSilence(since arrival: Int) {
    after(Self.requestTimeout) { simulator in
      if simulator.arrivals == arrival, simulator.isSent { simulator.codec.expire(into: &simulator.batch) }
    }
  }
}
