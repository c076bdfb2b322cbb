// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What a gateway publishes about itself, retained.
///
/// ```json
/// {"schema": "accessory-bridge-mqtt/1", "document": "info", "time": 1790000000.5, "gateway": "attic-3f2a9c01",
///  "host": "attic", "version": "0.1.0", "accessories": 3, "attached": 2}
/// ```
package struct GatewayInfo: Sendable, Hashable {
  /// When this was published, in seconds since 1970.
  package var time: Double
  /// The gateway's name, as in its topics.
  package var gateway: TopicLevel
  /// The machine's host name.
  package var host: String
  /// The version of Accessory Bridge.
  package var version: String
  /// How many accessories it knows, and how many of them are attached; nil before it knows, and from an older version.
  package var accessories, attached: Int?

  /// Creates the document. A long host name is cut.
  package init(
    _ gateway: TopicLevel, host: String, version: String, accessories: Int? = nil, attached: Int? = nil, at time: Double
  ) {
    self.gateway = gateway
    (self.accessories, self.attached) = (accessories, attached)
    self.host = String(decoding: host.utf8.prefix(255), as: UTF8.self)
    (self.version, self.time) = (version, time)
  }

  /// The document.
  package var bytes: [UInt8] {
    JSON.document(
      .info,
      [
        "time": .number(time), "gateway": .string(gateway.text), "host": .string(host), "version": .string(version),
        "accessories": accessories.map { .int($0) } ?? .null, "attached": attached.map { .int($0) } ?? .null,
      ])
  }

  package init(_ bytes: [UInt8]) throws(FleetDocumentError) {
    let fields = try FleetFields(bytes, limit: FleetLimits.documentBytes)
    guard let gateway = try fields.text("gateway").flatMap({ TopicLevel(level: $0) }),
      let time = try fields.time("time")
    else { throw FleetDocumentError("gateway or time is missing") }
    self.init(
      gateway, host: try fields.text("host") ?? "", version: try fields.text("version", limit: 64) ?? "",
      accessories: try fields.whole("accessories", ReplyLimits.count),
      attached: try fields.whole("attached", ReplyLimits.count), at: time)
  }
}
