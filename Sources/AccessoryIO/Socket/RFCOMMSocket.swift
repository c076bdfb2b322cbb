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

  /// The kernel's structure sockaddr_rc: the family, the address with its last byte first, the channel.
  package static func place(_ address: BluetoothAddress, channel: UInt8) -> [UInt8] {
    [UInt8(family), 0] + address.bytes.reversed() + [channel, 0]
  }

  /// Connects to a channel, and returns a non-blocking socket. Blocks for at most `limit`, so call it on a `SetupQueue`.
  package static func connect(
    to address: BluetoothAddress, channel: UInt8, limit: Duration
  ) throws(Errno) -> FileDescriptor {
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let descriptor = FileDescriptor(
      rawValue: try SystemCall.run(.socket) { socket(family, type, protocolNumber) })
    do throws(Errno) {
      // The send timeout also limits how long connect(2) takes.
      try Socket.limitSending(descriptor, to: limit)
      let result: Result<CInt, Errno> = place(address, channel: channel).withUnsafeBytes { bytes in
        Result { () throws(Errno) in
          // An array's memory is aligned for every C type.
          let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
          return try SystemCall.run(.connect, on: descriptor.rawValue) {
            Glibc.connect(descriptor.rawValue, pointer, socklen_t(bytes.count))
          }
        }
      }
      _ = try result.get()
      Socket.adopt(descriptor)
      return descriptor
    } catch {
      SystemCall.close(descriptor)
      throw error
    }
  }
}
