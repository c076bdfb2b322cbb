// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CLinuxShims
import Glibc
import SystemPackage

/// This machine's kernel. Its module `vhci_hcd` connects devices over a socket. Needs the module, and root.
public struct KernelHost: USBHost {
  private let directory: String

  /// The kernel of this machine.
  public init() { self.init(directory: "/sys/devices/platform/vhci_hcd.0") }

  init(directory: String) { self.directory = directory }

  /// Plugs a device into a free port, and passes one end of a socket pair to the kernel. Prefers a port from which the kernel has
  /// already removed the previous device, because it may otherwise miss the new one, and among such ports the one at `path`. Throws
  /// `unsupported` without the module, `permissionDenied` for a user other than root, `busy` when no port is free.
  public func attach(speed: Int, preferring path: String?) throws(AccessoryError) -> USBCable {
    let table: [UInt8]
    do throws(Errno) {
      table = try SmallFile.read(directory + "/status", limit: 65_536)
    } catch .noSuchFileOrDirectory {
      throw AccessoryError(
        .unsupported, code: .errno(ENOENT),
        "this machine has no virtual USB port: load the kernel module with 'sudo modprobe vhci-hcd'")
    } catch {
      throw AccessoryError(errno: error, "reading \(directory)/status")
    }
    let ports = VHCIPort.ports(in: String(decoding: table, as: UTF8.self))
    let (ours, kernels): (FileDescriptor, FileDescriptor)
    do throws(Errno) { (ours, kernels) = try UnixSocket.pair() } catch {
      throw AccessoryError(errno: error, "making a socket")
    }
    // The kernel duplicates its end. Its threads block on it, so it must be in blocking mode.
    defer { Socket.close(kernels) }
    _ = fcntl(kernels.rawValue, F_SETFL, 0)
    do throws(AccessoryError) {
      let port = try take(ports, socket: kernels.rawValue, speed: speed, preferring: path)
      return USBCable(descriptor: ours, path: place(of: port, among: ports))
    } catch {
      Socket.close(ours)
      throw error
    }
  }

  /// Tries the free ports one after another, because another process may take a port at the same time.
  private func take(
    _ ports: [VHCIPort], socket: CInt, speed: Int, preferring path: String?
  ) throws(AccessoryError) -> VHCIPort {
    let free = ports.filter { $0.isFree && $0.hub == .highSpeed }
    let isLeft = { (port: VHCIPort) in access(place(of: port, among: ports), F_OK) != 0 }
    let left = free.filter(isLeft)
    let former = left.filter { place(of: $0, among: ports) == path }
    for port in former + left + free.filter({ !isLeft($0) }) {
      // The device id (bus and address in one number) is used only by the device itself.
      do throws(Errno) {
        try write("\(port.number) \(socket) \(1 << 16 | port.number + 1) \(speed)", to: directory + "/attach")
        return port
      } catch .resourceBusy {
        continue
      } catch  where error == .permissionDenied || error == .notPermitted {
        throw AccessoryError(
          .permissionDenied, code: .errno(error.rawValue), "only root may plug simulated USB devices in: use sudo")
      } catch {
        throw AccessoryError(errno: error, "plugging into port \(port.number) of vhci_hcd")
      }
    }
    throw AccessoryError(
      .busy, "all \(ports.count { $0.hub == .highSpeed }) ports of vhci_hcd are in use: end another simulator")
  }

  private func write(_ text: String, to path: String) throws(Errno) {
    let descriptor = shim_open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw Errno(rawValue: errno) }
  }

  /// The sysfs directory of a port's device, such as "…/usb1/1-3" for port 2 of the high-speed bus.
  private func place(of port: VHCIPort, among ports: [VHCIPort]) -> String {
    let index = ports.filter { $0.hub == port.hub }.firstIndex { $0.number == port.number } ?? 0
    for bus in Directory.names(in: directory).filter({ $0.hasPrefix("usb") }).sorted() {
      guard let speed = try? SmallFile.read("\(directory)/\(bus)/speed", limit: 16), speed.starts(with: "480".utf8)
      else { continue }
      return "\(directory)/\(bus)/\(bus.dropFirst(3))-\(index + 1)"
    }
    return "\(directory) port \(port.number)"
  }
}

/// A row in `vhci_hcd`'s table of ports.
struct VHCIPort: Sendable, Hashable {
  /// The speed of the devices that a port accepts.
  enum Hub: String, Sendable { case highSpeed = "hs", superSpeed = "ss" }

  var hub: Hub
  var number: Int
  var isFree: Bool

  /// Parses a table with the columns `hub port sta spd dev sockfd local_busid`. State 4 is free (VDEV_ST_NULL in
  /// tools/usb/usbip). Skips invalid rows. Kernels before 4.13 have no column for the hub.
  static func ports(in table: String) -> [VHCIPort] {
    table.split(separator: "\n").compactMap { line in
      var fields = line.split(separator: " ", omittingEmptySubsequences: true)[...]
      var hub = Hub.highSpeed
      if let first = fields.first, let named = Hub(rawValue: String(first)) {
        hub = named
        fields = fields.dropFirst()
      }
      guard fields.count >= 2, let number = Int(fields[fields.startIndex]), (0...10_000).contains(number),
        let state = Int(fields[fields.startIndex + 1])
      else { return nil }
      return VHCIPort(hub: hub, number: number, isFree: state == 4)
    }
  }
}
