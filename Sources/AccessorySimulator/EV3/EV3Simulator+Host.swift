// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

// The connection to the host.

extension EV3Simulator {
  /// After this pause an unfinished message is dropped.
  private static let requestTimeout = Duration.milliseconds(500)

  /// Accepts a client on the network. A second one is closed, because a brick has one at a time.
  func welcome(_ client: DescriptorTransport) {
    guard var socket, socket.transport == nil else { return client.beginClose() }
    socket.greet(client)
    self.socket = socket
    serve(client)
  }

  func serve(_ transport: any Transport) {
    transport.input.onReadable { [weak self] in self?.post { $0.drain(transport) } }
  }

  private func drain(_ transport: any Transport) {
    while socket?.transport === transport {
      switch transport.input.take(into: &buffer, messages: &pieces) {
      case .nothing: return
      case .end: return lose(transport)
      case .bytes: break
      }
      if socket?.isGreeting == true {
        switch socket?.greeting(buffer) {
        case .accepted(let reply)?: _ = transport.output.offer(reply)
        case .refused?: transport.beginClose()
        case .unfinished?, nil: break
        }
        continue
      }
      decode(keepsMessages: transport.input.keepsMessages)
      takeAll()
      arrivals += 1
      if codec.hasUnfinishedFrame { watchSilence(since: arrivals) }
    }
  }

  /// Handles the end of a connection. On the network another host may connect; otherwise the brick was unplugged.
  func lose(_ transport: any Transport) {
    guard var socket else { return }
    guard socket.isNetwork else { return unplug() }
    transport.beginClose()
    socket.lose()
    self.socket = socket
    forgetHost()
  }

  private func decode(keepsMessages: Bool) {
    let bytes = buffer
    guard keepsMessages else { return codec.decode(bytes.span.bytes, into: &batch) }
    // A report is a message with padding.
    var start = 0
    for count in pieces {
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
      if simulator.arrivals == arrival { simulator.codec.expire(into: &simulator.batch) }
    }
  }
}
