// SPDX-License-Identifier: Apache-2.0

import AccessoryControl

/// A service and the accessories that it holds.
package struct ServiceDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.service
  let time: Double
  let product, version: String
  let process: Int
  /// Seconds since 1970, UTC.
  let started: Double
  let uptime_ms: Int
  /// Null for a socket without a path.
  let socket: String?
  /// The read-only socket; null if the service has none.
  let readings_socket: String?
  let attached, clients: Int
  let limits: Bridge.ServiceLimits
  /// The accessories that the service holds or tries to attach.
  let devices: [DeviceDocument]

  /// The service's reply and its accessories; `time` is in seconds since 1970, UTC.
  package init(
    _ service: Bridge.GetService.Reply, _ accessories: [Bridge.Accessory], at time: Double = WallClock.seconds
  ) {
    self.time = time
    (product, version, process) = (service.product, service.version, service.process)
    (started, uptime_ms, socket) = (service.started, service.uptime_ms, service.socket)
    readings_socket = service.readings_socket
    (attached, clients, limits) = (service.attached, service.clients, service.limits)
    devices = accessories.map { DeviceDocument($0.device, held: $0) }
  }
}
