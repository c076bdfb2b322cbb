// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// Stream sockets to serial ports of Bluetooth Classic devices. The kernel has the protocol; no daemon is asked.
package enum RFCOMMSocket {
  // From the kernel's headers net/bluetooth/bluetooth.h and rfcomm.h, which libc doesn't have.
  private static let family: CInt = 31
  private static let protocolNumber: CInt = 3
  private static let adapters: CInt = 1

  /// The kernel's structure sockaddr_rc: the family, the address with its last byte first, the channel.
  package static func place(_ address: BluetoothAddress, channel: UInt8) -> [UInt8] {
    [UInt8(family), 0] + address.bytes.reversed() + [channel, 0]
  }

  /// Connects to a channel, and returns a non-blocking socket. Blocks for at most `limit`, so call it on a `SetupQueue`.
  /// `adapter` is the one that connects; nil leaves the choice to the kernel. Throws `ENODEV` when there is no such
  /// adapter.
  package static func connect(
    to address: BluetoothAddress, channel: UInt8, by adapter: BluetoothAdapterName? = nil, limit: Duration
  ) throws(Errno) -> FileDescriptor {
    let own = try adapter.map { adapter throws(Errno) in try Self.address(of: adapter) }
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let descriptor = FileDescriptor(
      rawValue: try SystemCall.run(.socket) { socket(family, type, protocolNumber) })
    do throws(Errno) {
      // The send timeout also limits how long connect(2) takes.
      try Socket.limitSending(descriptor, to: limit)
      if let own {
        try run(.bind, on: descriptor, place(own, channel: 0)) { bind(descriptor.rawValue, $0, $1) }
      }
      try run(.connect, on: descriptor, place(address, channel: channel)) { place, size in
        Glibc.connect(descriptor.rawValue, place, size)
      }
      Socket.adopt(descriptor)
      return descriptor
    } catch {
      SystemCall.close(descriptor)
      throw error
    }
  }

  private static func run(
    _ call: SystemCall, on descriptor: FileDescriptor, _ place: [UInt8],
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) throws(Errno) {
    let result: Result<CInt, Errno> = place.withUnsafeBytes { bytes in
      Result { () throws(Errno) in
        // An array's memory is aligned for every C type.
        let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
        return try SystemCall.run(call, on: descriptor.rawValue) { body(pointer, socklen_t(bytes.count)) }
      }
    }
    _ = try result.get()
  }

  /// The address of the adapter with this name, as the kernel has it. Throws `ENODEV` when there is none.
  private static func address(of adapter: BluetoothAdapterName) throws(Errno) -> BluetoothAddress {
    if let address = adapter.address { return address }
    let type = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let descriptor = FileDescriptor(rawValue: try SystemCall.run(.socket) { socket(family, type, adapters) })
    defer { SystemCall.close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 6)
    _ = try SystemCall.run(.ioctl, on: descriptor.rawValue) {
      shim_hci_address(descriptor.rawValue, adapter.number ?? .max, &bytes)
    }
    guard let address = BluetoothAddress(rawValue: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }) else {
      throw Errno(rawValue: ENODEV)
    }
    return address
  }
}
