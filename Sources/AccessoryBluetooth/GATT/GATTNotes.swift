// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The notes of a trace on a GATT connection. Devices choose their names and services, so there may be anything in
/// them: names are escaped, and lists are cut off.
enum GATTNotes {
  private static let limits = (services: 12, characteristics: 6, text: 120)

  /// The connected device and its adapter.
  static func connected(_ device: BluetoothDevice, _ objects: BluetoothObjects, isOurs: Bool) -> [String] {
    let device = objects.devices[device.path] ?? device
    let adapter = SafeText.escape(objects.adapters[device.adapter]?.name ?? "", limit: limits.text)
    let name = device.name.map { " (\(SafeText.escape($0, limit: limits.text)))" } ?? ""
    let address = device.address.map { "\($0)" } ?? "?"
    let kind = device.hasRandomAddress ? ", random address" : ""
    let signal = device.signalStrength.map { ", \($0) dBm" } ?? ""
    let how = isOurs ? "connected to" : "another program was connected to"
    return ["\(how) \(address)\(name) by \(adapter)\(kind)\(signal)"]
  }

  /// The services with their characteristics, and what each can do.
  static func services(_ table: [(service: GATTService, characteristics: [GATTCharacteristic])]) -> String {
    if table.isEmpty { return "services: none" }
    let texts = table.prefix(limits.services).map { entry in
      let parts = entry.characteristics.prefix(limits.characteristics).map { characteristic in
        "\(name(characteristic.uuid)) \(abilities(characteristic))"
      }
      let more = entry.characteristics.count > limits.characteristics ? ", …" : ""
      return name(entry.service.uuid) + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", "))\(more))")
    }
    return "services: " + texts.joined(separator: "; ") + (table.count > limits.services ? "; …" : "")
  }

  private static func name(_ uuid: BluetoothUUID?) -> String { uuid?.description ?? "?" }

  /// The flags that matter for carrying bytes.
  private static func abilities(_ characteristic: GATTCharacteristic) -> String {
    let known = ["read", "write", "write-without-response", "notify", "indicate"]
    let found = known.filter { characteristic.flags.contains($0) }
    return found.isEmpty ? "-" : found.joined(separator: " ")
  }

  /// The commands that were sent first, without the password.
  static func greeted(_ greeting: GATTGreeting, _ settings: GATTSettings) -> String {
    if settings.greeting != nil { return "\(name(greeting.characteristic.uuid)) was told what opens the device" }
    let password = settings.password == nil ? "the factory's password" : "its password"
    let name = name(greeting.characteristic.uuid)
    return "\(name) was told \(password) and the speed of the line, \(settings.baudRate) baud"
  }

  /// How bytes are carried: `size` is the largest packet with its header, `chunk` the most bytes of one write.
  static func opened(
    _ port: GATTSerialPort, size: Int, chunk: Int, bySocket: (notifications: Bool, writes: Bool)
  ) -> String {
    let listening = bySocket.notifications ? "by a socket" : "by signals"
    let writing =
      bySocket.writes ? "by a socket" : port.write.takesRequests ? "by calls, each confirmed" : "by calls"
    return
      "MTU \(size): \(chunk) bytes in a packet; notifications of \(name(port.notify.uuid)) are on (\(listening)), "
      + "\(name(port.write.uuid)) is written (\(writing))"
  }

  /// The end of the connection, and its reason.
  static func ended(_ error: AccessoryError?, disconnects: Bool) -> String {
    guard let error else { return disconnects ? "closed; the connection is ended" : "closed; the connection stays" }
    return "disconnected: \(SafeText.escape(error.message, limit: 2 * limits.text))"
  }
}
