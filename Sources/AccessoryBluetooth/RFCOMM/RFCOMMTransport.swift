// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// Serial ports of Bluetooth Classic devices.
public enum RFCOMMTransport {
  /// How long connecting may take: the kernel pages a device for five seconds, and pairing comes on top.
  public static let connectLimit = Duration.seconds(15)

  /// Connects to a channel of a device. Without a channel that is the first one, where devices with one serial port have
  /// it.
  ///
  /// Throws `notFound` when this computer has no Bluetooth adapter, `misconfigured` when it is off, `disconnected` when
  /// the device isn't there or nothing listens at the channel, `permissionDenied` when it must be paired first,
  /// `timedOut`, and `cancelled` when the task is cancelled meanwhile.
  public static func open(
    _ address: BluetoothAddress, channel: UInt8? = nil, label: String? = nil, io: IOThread = .shared
  ) async throws(AccessoryError) -> DescriptorTransport {
    let label = label ?? DeviceAddress.rfcomm(address, channel: channel).description
    let setup = SetupQueue(label: label)
    let descriptor = try await setup.run { () throws(AccessoryError) in
      do throws(Errno) {
        return try RFCOMMSocket.connect(to: address, channel: channel ?? 1, limit: connectLimit)
      } catch {
        throw failure(error, label)
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

  private static func failure(_ errno: Errno, _ label: String) -> AccessoryError {
    func error(_ kind: AccessoryError.Kind, _ text: String) -> AccessoryError {
      AccessoryError(kind, code: .errno(errno.rawValue), text)
    }
    switch errno {
    case .addressFamilyNotSupported, .protocolNotSupported:
      return error(.notFound, "\(label): this computer's kernel has no Bluetooth (RFCOMM): sudo modprobe rfcomm")
    case .noRouteToHost:
      return error(.notFound, "\(label): this computer has no Bluetooth adapter that is on: bluetoothctl power on")
    case .hostIsDown, .nowInProgress, .timedOut:
      return error(.timedOut, "\(label) doesn't answer: is it on, and near enough?")
    case .connectionRefused:
      return error(
        .disconnected, "\(label) has no serial port at this channel, or is busy: rfcomm:ADDRESS/CHANNEL names another")
    case .permissionDenied, .notPermitted:
      return error(.permissionDenied, "\(label) must be paired first: bluetoothctl pair ADDRESS")
    default: return AccessoryError(device: errno, "connecting to \(label)")
    }
  }
}
