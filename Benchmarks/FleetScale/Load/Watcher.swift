// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import AccessoryIO
import Synchronization

/// A subscriber to all states. It measures how long after an event its message arrives: each event has a voltage of its own.
final class Watcher: Sendable {
  private struct State {
    var waiting: [Int: MonotonicTime] = [:]
    var latencies: [Duration] = []
    var known: Set<String> = []
    var messages = 0
  }

  private let state = Mutex(State())
  private let client: MQTTClient

  init(_ broker: BrokerAddress) {
    client = MQTTClient(MQTTSettings(broker, clientID: "load-watcher"))
    Task { [self] in
      await client.start()
      while let event = await client.next() {
        switch event {
        case .connected: await client.subscribe("accessory-bridge/+/+/state", qos: .atMostOnce)
        case .message(let message): take(message)
        default: break
        }
      }
    }
  }

  /// An event happens now.
  func expect(_ millivolts: Int) { state.withLock { $0.waiting[millivolts] = .now } }

  /// The accessories that have been seen.
  var accessoryCount: Int { state.withLock { $0.known.count } }
  var messageCount: Int { state.withLock { $0.messages } }

  /// Takes the times from event to message, and how many events have had none.
  func takeLatencies() -> (times: [Duration], missing: Int) {
    state.withLock { state in
      defer { (state.latencies, state.waiting) = ([], [:]) }
      return (state.latencies.sorted(), state.waiting.count)
    }
  }

  private func take(_ message: MQTTMessage) {
    let now = MonotonicTime.now
    let marks = Self.number(after: Self.key, in: message.payload)
    state.withLock { state in
      state.messages += 1
      state.known.insert(message.topic)
      if let marks, let start = state.waiting.removeValue(forKey: marks) { state.latencies.append(now - start) }
    }
  }

  private static let key = Array("\"voltage_mv\":".utf8)

  private static func number(after key: [UInt8], in bytes: [UInt8]) -> Int? {
    guard let range = bytes.firstRange(of: key) else { return nil }
    let digits = bytes[range.upperBound...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return Int(String(decoding: digits, as: UTF8.self))
  }
}
