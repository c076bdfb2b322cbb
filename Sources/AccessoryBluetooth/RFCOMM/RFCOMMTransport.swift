// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import Glibc
import SystemPackage

/// Serial ports of Bluetooth Classic devices.
public enum RFCOMMTransport {
  /// How long connecting may take: the kernel pages a device for five seconds, and pairing comes on top.
  public static let connectLimit = Duration.seconds(15)

  /// The time limit for finding a device that BlueZ doesn't know.
  public static let searchLimit = DeviceName.searchLimit

  /// Connects to a serial port of a device: to the given channel, or else to the one that the device advertises.
  /// Without a channel bluetoothd connects, and pairs if the device requires it. With a channel, or without bluetoothd,
  /// the kernel connects.
  ///
  /// Throws `notFound` when this computer has no Bluetooth adapter or the device isn't there, `misconfigured` when the
  /// adapter is off, `disconnected` when nothing listens at the channel, `unsupported` when the device advertises no
  /// serial port, `permissionDenied` when it must be paired first, `busy` when another program uses its port,
  /// `timedOut`, and `cancelled` when the task is cancelled.
  public static func open(
    _ address: BluetoothAddress, channel: UInt8? = nil, by adapter: BluetoothAdapterName? = nil, label: String? = nil,
    io: IOThread = .shared
  ) async throws(AccessoryError) -> DescriptorTransport {
    let label = label ?? DeviceAddress.rfcomm(address, channel: channel, adapter: adapter).description
    if channel == nil {
      let profile = io === IOThread.shared ? SerialPortProfile.shared : SerialPortProfile(io: io)
      let connected = try await profile.connect(
        to: address, by: adapter, label: label, search: searchLimit, limit: connectLimit)
      if let connected { return connected }
    }
    return try await connect(address, channel ?? 1, adapter, label, io)
  }

  /// Connects by a socket of our own.
  private static func connect(
    _ address: BluetoothAddress, _ channel: UInt8, _ adapter: BluetoothAdapterName?, _ label: String, _ io: IOThread
  ) async throws(AccessoryError) -> DescriptorTransport {
    let setup = SetupQueue(label: label)
    let descriptor = try await setup.run { () throws(AccessoryError) in
      do throws(Errno) {
        return try RFCOMMSocket.connect(to: address, channel: channel, by: adapter, limit: connectLimit)
      } catch {
        throw failure(error, label, address)
      }
    }
    if Task.isCancelled {
      await setup.run { Socket.close(descriptor) }
      throw AccessoryError(.cancelled, "connecting to \(label) was cancelled")
    }
    return DescriptorTransport(descriptor: descriptor, label: label, timing: .instant, io: io, setup: setup) {
      Socket.close(descriptor)
    }
  }

  private static func failure(_ errno: Errno, _ label: String, _ address: BluetoothAddress) -> AccessoryError {
    func error(_ kind: AccessoryError.Kind, _ text: String) -> AccessoryError {
      AccessoryError(kind, code: .errno(errno.rawValue), text)
    }
    switch errno {
    case .addressFamilyNotSupported, .protocolNotSupported:
      return error(.unsupported, "\(label): this computer's kernel has no Bluetooth (RFCOMM): sudo modprobe rfcomm")
    case Errno(rawValue: ENODEV):
      return error(
        .notFound, "\(label): this computer has no such Bluetooth adapter: ls /sys/class/bluetooth shows them")
    case .noRouteToHost:
      return BluetoothPlace.adapters().isEmpty
        ? error(.notFound, "\(label): this computer has no Bluetooth adapter, or its driver isn't loaded")
        : error(.misconfigured, "\(label): this computer's Bluetooth adapter is off: bluetoothctl power on")
    case .hostIsDown, .nowInProgress, .timedOut:
      return error(.timedOut, "\(label) doesn't answer: is it on, and near enough?")
    case .connectionRefused:
      return error(
        .disconnected, "\(label) has no serial port at this channel, or is busy: rfcomm:ADDRESS/CHANNEL names another")
    case .permissionDenied, .notPermitted:
      return .mustBePaired(label, .rfcomm(address, channel: nil))
    default: return AccessoryError(device: errno, "connecting to \(label)")
    }
  }
}
