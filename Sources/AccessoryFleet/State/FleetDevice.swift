// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The field `device` of documents: an accessory's device, and in `service` its state in the gateway's service.
enum FleetDevice {
  /// Leaves out the USB interfaces, which matter only on the device's own machine.
  static func json(_ accessory: Bridge.Accessory?, _ device: Device) -> JSON {
    guard case .object(var fields) = JSON.of(device) else { return .null }
    if case .object(var usb)? = fields["usb"] {
      usb["interfaces"] = .array([])
      fields["usb"] = .object(usb)
    }
    if let accessory, case .object(var service) = JSON.of(WithNulls(HeldState(accessory))) {
      service["problem"] = .problem(accessory.problem)
      // The broker retains what an accessory has told last, and says whether it is there.
      for field in ["absent", "connected_since", "last_seen", "last"] { service[field] = nil }
      fields["service"] = .object(service)
    }
    return .object(fields)
  }

  /// Reads a device and the service's record of it, if present.
  static func read(_ json: JSON) throws(FleetDocumentError) -> (Device, Bridge.Accessory?) {
    let device = try FleetFields.value(json, "device", as: Device.self)
    let texts = [
      device.id, device.path, device.link, device.driver, device.name, device.manufacturer,
      device.model, device.serialNumber, device.terminal, device.usb?.node, device.usb?.port, device.usb?.damage,
      device.given?.name, device.given?.area,
    ]
    let lists = device.links + device.ways
    func fits(_ text: String?) -> Bool { (text?.utf8.count ?? 0) <= FleetLimits.textBytes }
    guard texts.allSatisfy({ fits($0) }), lists.count <= FleetLimits.arguments, lists.allSatisfy({ fits($0) }) else {
      throw FleetDocumentError("a text of the device is too long")
    }
    let all = try FleetFields(json)
    guard let fields = try all.object("service"), var service = all["service"]?.fields else { return (device, nil) }
    // A gateway of a later version may use a new word here.
    if fields["writes"]?.text.flatMap({ Bridge.Writes(rawValue: $0) }) == nil { service["writes"] = nil }
    (service["device"], service["problem"]) = (.of(device), nil)
    var accessory = try FleetFields.value(.object(service), "service", as: Bridge.Accessory.self)
    guard [accessory.profile, accessory.driver, accessory.holder].allSatisfy({ fits($0) }) else {
      throw FleetDocumentError("a text of the service is too long")
    }
    // These are never published, so no limits exist for them.
    (accessory.protocols, accessory.alarms, accessory.unfit_alarms, accessory.last) = (nil, nil, nil, nil)
    accessory.problem = try fields.error("problem").map(Bridge.Problem.init)
    return (device, accessory)
  }
}
