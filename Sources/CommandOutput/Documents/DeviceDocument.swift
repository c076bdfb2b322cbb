// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// A device, as a part of other documents: the fields of the service's interface, plus `access` and `service`.
package struct DeviceDocument: Encodable, Sendable {
  private enum CodingKeys: CodingKey {
    case access, service
  }

  private struct Access: Encodable {
    let permitted: Bool
    let refusal, holder: String?
  }

  private let device: Device
  private let access: PortAccess?
  /// The device's state in the service that holds it; null if no service holds it or none was asked.
  @Boxed private var service: HeldDocument?

  /// Creates a device's document. `access` is what this process has found out. It is nil if that wasn't checked: this command has the
  /// device open, or a service has reported the device. `held` is the record of the service that holds the device.
  package init(_ device: Device, access: PortAccess? = nil, held: Bridge.Accessory? = nil) {
    (self.device, self.access) = (device, access)
    service = held.map(HeldDocument.init)
  }

  /// Writes the fields of all parts.
  package func encode(to encoder: any Encoder) throws {
    try device.encode(to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    let access = access.map {
      Access(permitted: $0.refusal == nil, refusal: $0.refusal?.message, holder: $0.holder)
    }
    try fields.encodeIfPresent(access, forKey: .access)
    try fields.encodeIfPresent(service, forKey: .service)
  }
}

/// The state of a device in the service that holds it.
package struct HeldDocument: Encodable, Sendable {
  private enum CodingKeys: CodingKey {
    case problem, alarms, unfit_alarms
  }

  @Boxed private var accessory: Bridge.Accessory

  init(_ accessory: Bridge.Accessory) { self.accessory = accessory }

  /// Writes the fields of all parts.
  package func encode(to encoder: any Encoder) throws {
    try HeldState(accessory).encode(to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    // The reason why it isn't attached.
    let problem = accessory.problem.map { ProblemDocument($0.error(or: .ioFailure)) }
    try fields.encodeIfPresent(problem, forKey: .problem)
    // The raised alarms; null from a service that is too old for alarms.
    try fields.encodeIfPresent(accessory.alarms, forKey: .alarms)
    // The rules whose alarms are never raised, because their limits don't fit the values.
    try fields.encode(accessory.unfit_alarms ?? [], forKey: .unfit_alarms)
  }
}

/// An error, as a part of other documents. The kinds are those of `ErrorDocument`.
package struct ProblemDocument: Encodable, Sendable {
  let kind, message: String

  package init(_ error: AccessoryError) { (kind, message) = (error.kind.rawValue, error.message) }
}
