// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Glibc
import TestSupport

@testable import AccessoryFleet

/// Looks at everything that is on a broker.
final class Onlooker: Sendable {
  /// What has been seen.
  struct Seen: Sendable {
    /// The latest message of each topic, as text; retained ones are removed by empty messages.
    var latest: [String: String] = [:]
    /// How many messages have come, by topic.
    var counts: [String: Int] = [:]
    /// The answers to commands.
    var results: [String] = []
    var total: Int { counts.values.reduce(0, +) }
    /// Whether the broker has accepted the subscription.
    var isReady = false
  }

  let seen = Watched(Seen())
  private let client: MQTTClient
  /// Publishes: a broker doesn't send a client's own messages back to it.
  private let speaker: MQTTClient
  private let work: Task<Void, Never>

  init(_ broker: TestBroker) throws {
    client = MQTTClient(try broker.settings("onlooker"))
    speaker = MQTTClient(try broker.settings("speaker"))
    work = Task { [client, speaker, seen] in
      await client.start()
      await speaker.start()
      while let event = await client.next() {
        switch event {
        case .connected:
          // What a broker has forgotten isn't there any more.
          seen.update { $0.latest = [:] }
          await client.subscribe("#")
        case .message(let message):
          seen.update { seen in
            seen.counts[message.topic, default: 0] += 1
            if message.topic.hasSuffix("/result") {
              seen.results.append(String(decoding: message.payload, as: UTF8.self))
            }
            seen.latest[message.topic] =
              message.payload.isEmpty ? nil : String(decoding: message.payload, as: UTF8.self)
          }
        case .subscribed: seen.update { $0.isReady = true }
        default: break
        }
      }
    }
  }

  /// Waits until everything that is published is seen.
  func isReady() async throws { try await seen.wait { $0.isReady } }

  /// Publishes a message.
  func publish(_ topic: String, _ text: String, isRetained: Bool = false) async {
    await publish(MQTTMessage(topic, Array(text.utf8), isRetained: isRetained))
  }

  /// Publishes a message.
  func publish(_ message: MQTTMessage) async { await speaker.publish(message) }

  /// Forgets what has been seen, but not what is kept.
  func forgetCounts() { seen.update { $0.counts = [:] } }

  deinit { work.cancel() }

  func end() async {
    await client.stop()
    await speaker.stop()
    await work.value
  }

  /// Waits until the latest message of a topic contains a text.
  func wait(_ topic: String, _ text: String) async throws {
    try await seen.wait { $0.latest[topic]?.contains(text) == true }
  }

  /// Waits until a topic has no message.
  func waitForNone(_ topic: String) async throws { try await seen.wait { $0.latest[topic] == nil } }
}
