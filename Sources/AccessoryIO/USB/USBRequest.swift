// SPDX-License-Identifier: Apache-2.0

import CLinuxShims

/// The ioctl requests to usbfs for a human interface device that the kernel has no driver for. Control transfers wait for the device, up
/// to five seconds.
package enum USBRequest {
  /// USBDEVFS_CLAIMINTERFACE: nobody else may use the interface.
  package struct Claim: Ioctl {
    package var interface: UInt8

    package func call(on descriptor: CInt) -> (result: CInt, reply: Void) {
      (shim_usb_claim(descriptor, CUnsignedInt(interface)), ())
    }
  }

  /// A control transfer with an interface (USB 2.0, 9.3).
  package struct Control: Ioctl {
    /// Bit 7 is set for data from the device.
    package var requestType: UInt8
    package var request: UInt8
    package var value: UInt16
    package var interface: UInt8
    /// What is sent; for data from the device as many bytes as may come.
    package var data: [UInt8]

    package func call(on descriptor: CInt) -> (result: CInt, reply: [UInt8]) {
      let count = UInt16(clamping: data.count)
      let setup: [UInt8] = [
        requestType, request, UInt8(truncatingIfNeeded: value), UInt8(value >> 8), interface, 0,
        UInt8(truncatingIfNeeded: count), UInt8(count >> 8),
      ]
      var packet = setup + data.prefix(Int(count))
      let got = packet.withUnsafeMutableBufferPointer {
        shim_usb_control(descriptor, $0.baseAddress, CInt($0.count), 5_000)
      }
      guard got >= 0 else { return (-1, []) }
      return (0, Array(packet.dropFirst(setup.count).prefix(Int(got))))
    }
  }
}
