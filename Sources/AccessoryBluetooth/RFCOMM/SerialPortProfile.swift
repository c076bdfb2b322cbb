// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus
import SystemPackage

/// The client's side of the Serial Port Profile: the object `org.bluez.Profile1`, at which bluetoothd hands over the
/// descriptor of each connection.
///
/// There is one per program, because bluetoothd hands connections to the client that has registered the profile first. It stays
/// registered while connections are open, because bluetoothd shuts them down with it.
actor SerialPortProfile: IOActor {
  nonisolated let io: IOThread
  private let address: String?
  private var bluez: BlueZ?
  /// Waits until the profile is registered, so that it is registered once.
  private var registration: Task<BlueZ?, any Error>?
  /// How many connections are open or being opened.
  private var userCount = 0
  /// Connections that are being opened, by the path of the device.
  private var waiting: [String: OneShot<Result<BusDescriptor, AccessoryError>>] = [:]
  /// Open connections, by the path of the device.
  private var open: [String: DescriptorTransport] = [:]

  static let path = "/org/accessorybridge/serialport"
  static let interface = "org.bluez.Profile1"
  private static let managerPath = "/org/bluez"
  private static let manager = "org.bluez.ProfileManager1"
  /// The time limit for bluetoothd to hand over a connection after it has reported success.
  private static let handoverLimit = Duration.seconds(5)

  /// The profile of this program.
  static let shared = SerialPortProfile(io: .shared)

  /// The I/O thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A profile over the bus at `address`, by default the system bus.
  init(_ address: String? = nil, io: IOThread) { (self.address, self.io) = (address, io) }

  /// Connects to a device's serial port; its channel is found by SDP. Returns nil if there is no bluetoothd that this
  /// user may access.
  func connect(
    to address: BluetoothAddress, by adapter: BluetoothAdapterName? = nil, label: String, search: Duration,
    limit: Duration
  ) async throws(AccessoryError) -> DescriptorTransport? {
    userCount += 1
    return try await attempt { () throws(AccessoryError) in
      guard let bluez = try await registered() else {
        await leave()
        return nil
      }
      let device = try await bluez.device(at: address, .classic, by: adapter, within: search)
      let descriptor = try await handedOver(device.path, label, bluez, limit)
      let path = device.path
      let setup = SetupQueue(label: label)
      let transport = DescriptorTransport(
        descriptor: descriptor, label: label, timing: .instant, io: io, setup: setup
      ) {
        Socket.close(descriptor)
        self.io.post { self.enter { $0.left(path) } }
      }
      open[path] = transport
      return transport
    } onFailure: { _ in
      await leave()
    }
  }

  /// Asks bluetoothd to connect, and waits for the descriptor, which may come before or after its reply.
  private func handedOver(
    _ path: String, _ label: String, _ bluez: BlueZ, _ limit: Duration
  ) async throws(AccessoryError) -> FileDescriptor {
    guard waiting[path] == nil, open[path] == nil else {
      throw AccessoryError(.busy, "\(label) is open in this program already")
    }
    let result = OneShot<Result<BusDescriptor, AccessoryError>>()
    waiting[path] = result
    defer { waiting[path] = nil }
    do throws(BusFailure) {
      _ = try await bluez.call(
        path, BlueZ.deviceInterface, "ConnectProfile", [.text(BluetoothUUID.serialPort.text)], within: limit)
    } catch {
      // Otherwise bluetoothd keeps trying.
      if error.isTimeout || error == .cancelled { await bluez.post(path, BlueZ.deviceInterface, "Disconnect") }
      throw Self.failure(error, label, unpaired: await bluez.unpaired(path, .rfcomm))
    }
    let late = AccessoryError(.busy, "another program was also waiting for the connection to \(label), and got it")
    let timer = io.schedule(at: io.now + Self.handoverLimit) { result.finish(.failure(late)) }
    defer { io.cancel(timer) }
    let cancelled = AccessoryError(.cancelled, "connecting to \(label) was cancelled")
    guard let descriptor = try await result.value(whenCancelled: .failure(cancelled)).get().take() else { throw late }
    return descriptor
  }

  private static func failure(
    _ failure: BusFailure, _ label: String, unpaired: DeviceAddress?
  ) -> AccessoryError {
    if failure.isTimeout {
      return AccessoryError(.timedOut, "\(label) doesn't answer: is it on, and near enough?")
    }
    switch failure.name {
    case "org.bluez.Error.NotAvailable", "org.bluez.Error.InvalidArguments":
      return AccessoryError(
        .unsupported,
        "\(label) doesn't announce a serial port (SPP): if it has one, name its channel: rfcomm:ADDRESS/CHANNEL")
    case "org.bluez.Error.InProgress", "org.bluez.Error.AlreadyConnected":
      return AccessoryError(.busy, "another program uses the serial port of \(label): end that one")
    case "org.bluez.Error.Failed" where failure.text.contains("Host is down") || failure.text.contains("page-timeout"):
      return AccessoryError(.timedOut, "\(label) doesn't answer: is it on, and near enough?")
    case "org.bluez.Error.Failed" where failure.text.contains("refused") || failure.text.contains("key-missing"):
      // The kernel ends a connection that isn't secure enough for the device, and nobody answers the device's questions about
      // pairing.
      return unpaired.map { .mustBePaired(label, $0) }
        ?? AccessoryError(
          .disconnected,
          "\(label) refuses the connection: if it has forgotten that it is paired, bridge-cli bluetooth unpair, and pair it again"
        )
    default: return AccessoryError(refusal: failure, "connecting to \(label)", unpaired: unpaired)
    }
  }

  // MARK: - Registration

  /// The connection to bluetoothd on which the profile is registered; nil if bluetoothd can't be reached.
  private func registered() async throws(AccessoryError) -> BlueZ? {
    if let bluez { return bluez }
    let task = registration ?? Task { try await self.register() }
    registration = task
    let result = await task.result
    registration = nil
    switch result {
    case .success(let bluez): return bluez
    case .failure(let error):
      throw error as? AccessoryError ?? AccessoryError(.cancelled, "connecting was cancelled")
    }
  }

  private func register() async throws(AccessoryError) -> BlueZ? {
    guard let bluez = try? await BlueZ.open(address, io: io) else { return nil }
    return try await attempt { () throws(AccessoryError) in
      do throws(BusFailure) {
        try await bluez.serve(Self.path) { [weak self] call throws(BusFailure) in
          guard let self else { throw PairingAgent.rejected }
          return try await self.answer(call)
        }
        let options = [BusArgument.Option("Role", .text("client")), .init("AutoConnect", .boolean(false))]
        _ = try await bluez.call(
          Self.managerPath, Self.manager, "RegisterProfile",
          [.path(Self.path), .text(BluetoothUUID.serialPort.text), .options(options)])
      } catch {
        throw AccessoryError(refusal: error, "asking bluetoothd for serial ports")
      }
      _ = await bluez.observe { [weak self] event, _ in
        if case .gone(let error) = event { self?.enter { $0.lost(error) } }
      }
      self.bluez = bluez
      return bluez
    } onFailure: { _ in
      await bluez.close()
    }
  }

  /// bluetoothd has ended. The kernel's connections continue; the next connect registers again.
  private func lost(_ error: AccessoryError) {
    guard let bluez else { return }
    self.bluez = nil
    for result in waiting.values { result.finish(.failure(error)) }
    Task { await bluez.close() }
  }

  private func left(_ path: String) {
    open[path] = nil
    Task { await leave() }
  }

  private func leave() async {
    userCount -= 1
    guard userCount == 0, let bluez else { return }
    self.bluez = nil
    // The registration ends with this connection.
    await bluez.close()
  }

  // MARK: - Calls from bluetoothd

  private func answer(_ call: BusMessage) throws(BusFailure) -> [BusArgument] {
    guard call.interface == Self.interface else {
      throw BusFailure("org.freedesktop.DBus.Error.UnknownMethod", "no such method")
    }
    switch call.member {
    case "NewConnection":
      // A connection that wasn't requested is refused, and its descriptor is closed with the message.
      guard call.values.count >= 2, let path = call.values[0].path, case .descriptor(let descriptor) = call.values[1],
        waiting[path]?.finish(.success(descriptor)) == true
      else {
        throw BusFailure("org.bluez.Error.Rejected", "nobody waits for it")
      }
    case "RequestDisconnection":
      if let path = call.values.first?.path { open[path]?.deviceWasRemoved() }
    case "Release", "Cancel": break
    default: throw BusFailure("org.freedesktop.DBus.Error.UnknownMethod", "no such method")
    }
    return []
  }
}
