// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The discovery topics of a gateway's accessories: `PREFIX/device/GATEWAY/ID/config`.
enum DiscoveryTopic {
  static func topic(_ prefix: String, _ gateway: TopicLevel, _ accessory: TopicLevel) -> String {
    "\(prefix)/device/\(gateway)/\(accessory)/config"
  }

  /// The filter for all accessories of the gateway.
  static func filter(_ prefix: String, _ gateway: TopicLevel) -> String { "\(prefix)/device/\(gateway)/+/config" }

  /// The accessory of a topic; nil if the topic isn't a discovery topic of this gateway.
  static func accessory(_ topic: String, _ prefix: String, _ gateway: TopicLevel) -> TopicLevel? {
    let begin = "\(prefix)/device/\(gateway)/"
    let end = "/config"
    guard topic.hasPrefix(begin), topic.hasSuffix(end), topic.utf8.count > begin.utf8.count + end.utf8.count else {
      return nil
    }
    return TopicLevel(level: topic.dropFirst(begin.count).dropLast(end.count))
  }

  /// The most components of a message that are read.
  private static let componentLimit = 1_024

  /// The components of a discovery message with their platforms; empty if it isn't valid.
  static func components(_ payload: [UInt8]) -> [String: String] {
    guard let fields = (try? JSON(payload))?.fields, let components = fields["components"]?.fields,
      components.count <= componentLimit
    else { return [:] }
    return components.compactMapValues { $0.fields?["platform"]?.text ?? $0.fields?["p"]?.text }
  }
}
