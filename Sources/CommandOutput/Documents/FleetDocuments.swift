// SPDX-License-Identifier: Apache-2.0

/// Where an accessory of a fleet is, as fields that are added to its document.
package struct FleetPlace: Encodable, Sendable, Hashable {
  /// The name of its gateway.
  let gateway: String
  /// Whether the gateway is connected with the broker.
  let online: Bool
  /// Whether the accessory can be reached now: it is attached, and its gateway is connected.
  let connected: Bool

  /// The place of an accessory.
  package init(gateway: String, online: Bool, connected: Bool) {
    (self.gateway, self.online, self.connected) = (gateway, online, connected)
  }
}

/// A document of an accessory of a fleet: the fields of the same document of an accessory of this machine, and its place.
package struct InFleet<Document: Encodable>: Encodable {
  private let document: Document
  private let place: FleetPlace

  /// A document with a place.
  package init(_ document: Document, _ place: FleetPlace) { (self.document, self.place) = (document, place) }

  /// Writes the fields of both.
  package func encode(to encoder: any Encoder) throws {
    try document.encode(to: encoder)
    try place.encode(to: encoder)
  }
}

/// The accessories of a fleet.
package struct FleetListDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.fleetList
  /// Whether the broker has told everything within the time limit.
  let complete: Bool
  let devices: [InFleet<DeviceDocument>]

  /// The accessories in the order in which they are shown.
  package init(_ devices: [InFleet<DeviceDocument>], isComplete: Bool) {
    (self.devices, complete) = (devices, isComplete)
  }
}
