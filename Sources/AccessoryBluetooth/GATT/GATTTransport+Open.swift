// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import MessageBus
import SystemPackage

extension GATTTransport {
  /// The time limit for finding a device.
  public static let searchLimit = DeviceName.searchLimit
  /// The time limit of connecting, including the discovery of services.
  public static let connectLimit = Duration.seconds(15)

  /// Connects a Bluetooth Low Energy device and opens its serial port. Searches for the device if BlueZ doesn't know it. Without
  /// `adapter`, uses an adapter that knows the device.
  ///
  /// Throws `notFound` when there is no adapter or the device isn't found, `misconfigured` when the adapter is off, `timedOut` when
  /// the device doesn't answer, `busy` when another program uses its serial port, `unsupported` when it has none, and `cancelled`
  /// when the task is cancelled in the meantime. `noting` is called on the I/O thread with events of the connection, in words for
  /// people.
  public static func open(
    _ address: BluetoothAddress, _ settings: GATTSettings = GATTSettings(), by adapter: BluetoothAdapterName? = nil,
    label: String? = nil, io: IOThread = .shared, noting note: (@Sendable (String) -> Void)? = nil
  ) async throws(AccessoryError) -> GATTTransport {
    let bluez = try await BlueZ.open(io: io)
    return try await attempt { () throws(AccessoryError) in
      try await open(
        address, settings, by: adapter, label: label ?? DeviceAddress.ble(address, adapter: adapter).description,
        over: bluez, noting: note)
    } onFailure: { _ in
      await bluez.close()
    }
  }

  /// Like `open` above, over a connection to bluetoothd that the transport takes over.
  static func open(
    _ address: BluetoothAddress, _ settings: GATTSettings, by adapter: BluetoothAdapterName? = nil, label: String,
    over bluez: BlueZ, noting note: (@Sendable (String) -> Void)? = nil
  ) async throws(AccessoryError) -> GATTTransport {
    let (device, isOurs) = try await bluez.connect(
      address, by: adapter, label: label, searching: searchLimit, within: connectLimit)
    return try await attempt { () throws(AccessoryError) in
      let table = await bluez.objects.table(of: device.path)
      if let note {
        GATTNotes.connected(device, await bluez.objects, isOurs: isOurs).forEach(note)
        note(GATTNotes.services(table))
      }
      let port = try GATTSerialPort(in: table, settings, label: label)
      if let greeting = port.greeting {
        try await greet(greeting, bluez, label)
        note?(GATTNotes.greeted(greeting, settings))
      }
      // Notifications first, so that the answer to the first write isn't lost.
      let notifications = try await acquire("AcquireNotify", port.notify, bluez, label)
      let writes = port.write.takesCommands ? try await acquire("AcquireWrite", port.write, bluez, label) : nil
      let objects = await bluez.objects
      let known = objects.characteristics[port.write.path]?.packetSize
      let size = writes?.size ?? notifications?.size ?? known ?? 23
      let transport = GATTTransport(
        bluez, device: device.path, port, label: label, ownsConnection: isOurs,
        notifications: notifications?.descriptor.take(), writes: writes?.descriptor.take(),
        packetSize: size, checkpoint: objects.clientConfiguration(of: port.notify.path), note: note)
      try await transport.start()
      let bySocket = (notifications: notifications != nil, writes: writes != nil)
      note?(GATTNotes.opened(port, size: size, chunk: transport.chunk, bySocket: bySocket))
      return transport
    } onFailure: { _ in
      if isOurs { await bluez.disconnect(device.path) }
    }
  }

  /// A socket that bluetoothd has handed out, and the largest packet, including its header of three bytes.
  struct Acquired {
    let descriptor: BusDescriptor
    let size: Int

    init?(_ values: [BusValue]) {
      guard values.count == 2, case .descriptor(let descriptor) = values[0], let size = values[1].integer,
        23...517 ~= size
      else { return nil }
      (self.descriptor, self.size) = (descriptor, Int(size))
    }
  }

  /// Sends the commands that the device needs before it carries bytes.
  private static func greet(_ greeting: GATTGreeting, _ bluez: BlueZ, _ label: String) async throws(AccessoryError) {
    let kind = greeting.characteristic.takesRequests ? "request" : "command"
    for packet in greeting.packets {
      do throws(BusFailure) {
        _ = try await bluez.call(
          greeting.characteristic.path, characteristic, "WriteValue",
          [.bytes(packet), .options([.init("type", .text(kind))])], within: writeLimit)
      } catch {
        let action = "telling \(label) its password and the speed of its line"
        throw await bluez.refusal(error, action, of: greeting.characteristic.path)
      }
    }
  }

  /// Asks for the socket of a characteristic; nil when bluetoothd offers none for it. Throws `busy` when another program
  /// has it.
  private static func acquire(
    _ method: String, _ characteristic: GATTCharacteristic, _ bluez: BlueZ, _ label: String
  ) async throws(AccessoryError) -> Acquired? {
    do throws(BusFailure) {
      let values = try await bluez.call(
        characteristic.path, Self.characteristic, method, [.options([])], within: writeLimit)
      guard let acquired = Acquired(values) else { throw .malformed }
      return acquired
    } catch {
      if ["org.bluez.Error.NotSupported", "org.freedesktop.DBus.Error.UnknownMethod"].contains(error.name) {
        return nil
      }
      throw await bluez.refusal(error, "opening the serial port of \(label)", of: characteristic.path)
    }
  }
}
