// SPDX-License-Identifier: Apache-2.0

/// An event of a bridge, in JSON.
package struct BridgeDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.bridgeEvent
  let event: String
  let time = WallClock.seconds
  /// The accessory; null until it was opened for the first time.
  let device: DeviceDocument?
  let endpoint, path, client, reason: String?

  /// The event of this name.
  package init(
    event: String, device: DeviceDocument?, endpoint: String?, path: String?, client: String?, reason: String?
  ) {
    (self.event, self.device) = (event, device)
    (self.endpoint, self.path, self.client, self.reason) = (endpoint, path, client, reason)
  }
}
