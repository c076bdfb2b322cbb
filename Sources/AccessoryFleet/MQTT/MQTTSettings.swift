// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// How a client connects to its broker.
package struct MQTTSettings: Sendable, Hashable {
  package var broker: BrokerAddress
  /// The client's identifier. When a second client connects with the same identifier, the broker disconnects the first.
  package var clientID: String
  /// The file with the password, read at every connection attempt; nil for none.
  package var passwordFile: String?
  /// The file with the CA certificates to trust; nil for those of the system.
  package var caFile: String?
  /// The client's own certificate and its key, as PEM files; nil for none.
  package var certificateFile: String?
  package var keyFile: String?
  /// The keepalive interval in seconds, 5 to 3,600: after this time without a message the client asks whether the broker still
  /// answers.
  package var keepalive: Int = 60
  /// The message that the broker publishes if the connection is lost.
  package var will: MQTTMessage?
  /// The longest packet that the broker may send, in bytes; a longer one ends the connection. The library needs twice the packet's
  /// length while it receives. A message longer than `MQTTMessage.longestPayload` is only dropped.
  package var longestPacket: UInt64 = 16 << 20

  package init(_ broker: BrokerAddress, clientID: String) { (self.broker, self.clientID) = (broker, clientID) }

  /// Throws `misconfigured` for settings that contradict each other and for a key file that everybody may read, and `unsupported`
  /// where there is no libmosquitto. Blocks, so call it on a setup queue.
  package func check() throws(AccessoryError) {
    func wrong(_ text: String) -> AccessoryError { AccessoryError(.misconfigured, text) }
    if !broker.usesTLS, caFile != nil || certificateFile != nil || keyFile != nil {
      throw wrong("certificates need TLS: write mqtts:// in the broker's address")
    }
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw wrong("--certificate and --key must be used together")
    }
    guard passwordFile == nil || broker.user != nil else {
      throw wrong("a password needs a user: write mqtt\(broker.usesTLS ? "s" : "")://USER@… as the broker's address")
    }
    guard (5...3_600).contains(keepalive) else { throw wrong("the keepalive is from 5 to 3600 seconds") }
    if let keyFile { try SecretFile.check(keyFile, "key") }
    if let passwordFile { _ = try SecretFile.password(passwordFile) }
    try MQTTLibrary.start()
  }
}

/// A message to or from a broker.
package struct MQTTMessage: Sendable, Hashable {
  /// The delivery guarantee: at most once, or at least once.
  package enum QoS: Int32, Sendable, Hashable {
    case atMostOnce = 0
    case atLeastOnce = 1
  }

  package var topic: String
  /// The content. An empty retained message deletes the broker's retained message on this topic.
  package var payload: [UInt8]
  /// The delivery guarantee.
  package var qos: QoS
  /// Whether the broker stores it for later subscribers. In a message from the broker: whether it was stored earlier.
  package var isRetained: Bool

  package init(_ topic: String, _ payload: [UInt8], qos: QoS = .atLeastOnce, isRetained: Bool = false) {
    (self.topic, self.payload, self.qos, self.isRetained) = (topic, payload, qos, isRetained)
  }

  /// The longest topic and the longest content that are accepted from a broker, in bytes.
  package static let longestTopic = 512
  package static let longestPayload = 256 << 10
}
