// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb
import SystemPackage

/// Resets USB devices on their bus, as if they were plugged in anew, for those that have stopped answering.
public enum USBReset {
  /// Resets the device with the usbfs node at `path` (USBDEVFS_RESET). Whoever has it open keeps it, if the device comes back as it was;
  /// otherwise the kernel reports an unplug and a plug. What a serial port's settings were may be lost.
  ///
  /// Throws `notFound`, `permissionDenied`, `disconnected`, and `ioFailure` where the device doesn't survive it.
  public static func reset(_ path: String, label: String? = nil, io: IOThread = .shared) async throws(AccessoryError) {
    try await reset(USBTransportConfiguration(path: path, label: label ?? path), io: io, node: USBNode.open)
  }

  /// The same; `node` opens the node.
  package static func reset(
    _ configuration: USBTransportConfiguration, io: IOThread = .shared, node: @escaping USBNode.Opener
  ) async throws(AccessoryError) {
    let context = try io.usb()
    // The kernel waits for the device: for some tenths of a second, or for seconds where it is dead.
    try await SetupQueue(label: configuration.path).run { () throws(AccessoryError) in
      try reset(configuration, context, node)
    }
  }

  private static func reset(
    _ configuration: USBTransportConfiguration, _ context: USBContext, _ open: USBNode.Opener
  ) throws(AccessoryError) {
    let label = configuration.label
    let node = try open(configuration)
    defer { SystemCall.close(node.descriptor) }
    var handle: OpaquePointer?
    let wrapped = libusb_wrap_sys_device(context.pointer, Int(node.descriptor.rawValue), &handle)
    guard wrapped == 0, let handle else { throw AccessoryError(libusb: wrapped, "opening \(label)", label: label) }
    let result = libusb_reset_device(handle)
    libusb_close(handle)
    // "Not found" means that it comes back as another device: that is a reset, too.
    guard result == 0 || result == LIBUSB_ERROR_NOT_FOUND.rawValue else {
      throw AccessoryError(libusb: result, "resetting \(label) on its bus", label: label)
    }
  }
}
