// SPDX-License-Identifier: Apache-2.0

/// The position of an accessory in a fleet, as additional fields of its document.
package struct FleetPlace: Encodable, Sendable, Hashable {
  /// The name of its gateway.
  let gateway: String
  /// Whether the gateway is connected to the broker.
  let online: Bool
  /// Whether the accessory can be reached now: it is attached, and its gateway is connected.
  let connected: Bool

  /// The place of an accessory.
  package init(gateway: String, online: Bool, connected: Bool) {
    (self.gateway, self.online, self.connected) = (gateway, online, connected)
  }
}

/// The document of an accessory of a fleet: the fields of the same document for a local accessory, plus its position in the fleet.
package struct InFleet<Document: Encodable>: Encodable {
  private let document: Document
  private let place: FleetPlace

  package init(_ document: Document, _ place: FleetPlace) { (self.document, self.place) = (document, place) }

  /// Writes the fields of both parts.
  package func encode(to encoder: any Encoder) throws {
    try document.encode(to: encoder)
    try place.encode(to: encoder)
  }
}

/// The accessories of a fleet.
package struct FleetListDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.fleetList
  /// Whether the broker has sent everything within the time limit.
  let complete: Bool
  let devices: [InFleet<DeviceDocument>]

  /// Creates a list of accessories in display order.
  package init(_ devices: [InFleet<DeviceDocument>], isComplete: Bool) {
    (self.devices, complete) = (devices, isComplete)
  }
}
