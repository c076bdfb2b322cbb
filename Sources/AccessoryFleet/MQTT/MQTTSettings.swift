// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// How a client connects with its broker.
package struct MQTTSettings: Sendable, Hashable {
  /// Where the broker is.
  package var broker: BrokerAddress
  /// The client's identifier. A broker ends the connection of an older client with the same one.
  package var clientID: String
  /// The file with the user's password, read at every connect; nil for none.
  package var passwordFile: String?
  /// The file with the certificates of those that the broker's may be signed by; nil for those of the system.
  package var caFile: String?
  /// The client's own certificate and its key, as files (PEM); nil for none.
  package var certificateFile: String?
  package var keyFile: String?
  /// After how many seconds without a message the client asks whether the broker is still there; 5 to 3,600.
  package var keepalive: Int = 60
  /// What the broker publishes when it loses the client.
  package var will: MQTTMessage?
  /// The longest packet that the broker may send, in bytes. A message that is longer than `MQTTMessage.longestPayload` is dropped; the
  /// library needs twice its length meanwhile, and a packet beyond this limit ends the connection.
  package var longestPacket: UInt64 = 16 << 20

  /// A limit that no packet reaches: MQTT has none longer than 256 MiB.
  package static let anyPacket: UInt64 = (256 << 20) + 5

  /// Settings for a broker.
  package init(_ broker: BrokerAddress, clientID: String) { (self.broker, self.clientID) = (broker, clientID) }

  /// Throws `misconfigured` for settings that don't fit together, and for a key that everybody may read. Blocks, so call it on
  /// a setup queue.
  package func check() throws(AccessoryError) {
    func wrong(_ text: String) -> AccessoryError { AccessoryError(.misconfigured, text) }
    if !broker.usesTLS, caFile != nil || certificateFile != nil || keyFile != nil {
      throw wrong("certificates need TLS: write mqtts:// in the broker's address")
    }
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw wrong("a client's certificate needs its key, and the key it")
    }
    guard passwordFile == nil || broker.user != nil else {
      throw wrong("a password needs a user: write mqtt\(broker.usesTLS ? "s" : "")://USER@… as the broker's address")
    }
    guard (5...3_600).contains(keepalive) else { throw wrong("the keepalive is from 5 to 3600 seconds") }
    if let keyFile { try SecretFile.check(keyFile, "key") }
    if let passwordFile { _ = try SecretFile.password(passwordFile) }
  }
}

/// A message to or from a broker.
package struct MQTTMessage: Sendable, Hashable {
  /// How often it arrives: at most once, or at least once.
  package enum QoS: Int32, Sendable, Hashable {
    case atMostOnce = 0
    case atLeastOnce = 1
  }

  /// The topic.
  package var topic: String
  /// The content. An empty retained message removes the one that the broker has.
  package var payload: [UInt8]
  /// How often it arrives.
  package var qos: QoS
  /// Whether the broker keeps it for later subscribers. In a message from the broker: whether it was kept from earlier.
  package var isRetained: Bool

  /// A message.
  package init(_ topic: String, _ payload: [UInt8], qos: QoS = .atLeastOnce, isRetained: Bool = false) {
    (self.topic, self.payload, self.qos, self.isRetained) = (topic, payload, qos, isRetained)
  }

  /// The longest topic and the longest content that are taken from a broker, in bytes.
  package static let longestTopic = 512
  package static let longestPayload = 256 << 10
}
