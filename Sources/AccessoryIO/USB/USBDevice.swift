// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb
import Glibc
import SystemPackage

/// An open usbfs device node, with the descriptors that were read from it.
package struct USBNode: Sendable {
  package var descriptor: FileDescriptor
  package var descriptors: [UInt8]

  package init(descriptor: FileDescriptor, descriptors: [UInt8]) {
    self.descriptor = descriptor
    self.descriptors = descriptors
  }

  /// Opens a node. A missing permission is reported here, with a path that the user can check.
  package static let open: Opener = { configuration throws(AccessoryError) in
    let descriptor: FileDescriptor
    do throws(Errno) {
      descriptor = try SystemCall.open(configuration.path, O_RDWR)
    } catch {
      throw PortDiagnosis.error(opening: configuration.path, label: configuration.label, error)
    }
    do throws(Errno) {
      let bytes = try SmallFile.read(descriptor, limit: USBDescriptorReader.sizeLimit)
      return USBNode(descriptor: descriptor, descriptors: bytes)
    } catch {
      SystemCall.close(descriptor)
      throw AccessoryError(device: error, "reading the descriptors of \(configuration.label)")
    }
  }

  /// A function that opens a node. Tests, which have no usbfs, use another one.
  package typealias Opener = @Sendable (USBTransportConfiguration) throws(AccessoryError) -> USBNode
}

/// A device with one interface claimed for this process.
///
/// All methods may block, for a control transfer or for detaching a driver, and run on the device's setup queue.
struct USBDevice: Sendable {
  let descriptor: FileDescriptor
  /// The interface and endpoints in use.
  let selection: USBSelection
  private let storage: Handle

  /// libusb's handle.
  var handle: OpaquePointer { storage.pointer }

  private struct Handle: @unchecked Sendable {
    // Sendable: any thread may make libusb calls on a handle. The transport ensures that closing is the last call.
    let pointer: OpaquePointer
  }

  /// Opens the device, detaches the kernel's driver, and claims the interface.
  init(_ configuration: USBTransportConfiguration, _ context: USBContext, _ open: USBNode.Opener) throws(AccessoryError)
  {
    let label = configuration.label
    let node = try open(configuration)
    descriptor = node.descriptor
    guard let description = USBDescriptorReader.read(node.descriptors) else {
      SystemCall.close(descriptor)
      throw AccessoryError(.unsupported, "\(label) is not a USB device")
    }
    var handle: OpaquePointer?
    let result = libusb_wrap_sys_device(context.pointer, Int(descriptor.rawValue), &handle)
    guard result == 0, let handle else {
      // libusb reports the same error for an unplugged device and for a failing one.
      let isGone = SystemCall.hasHungUp(descriptor)
      SystemCall.close(descriptor)
      throw isGone
        ? .disconnected(label, code: .libusb(result))
        : AccessoryError(libusb: result, "opening \(label)", label: label)
    }
    storage = Handle(pointer: handle)
    do throws(AccessoryError) {
      selection = try Self.select(configuration, handle, description)
      try Self.claim(configuration, handle, selection)
    } catch {
      let isGone = SystemCall.hasHungUp(descriptor)
      libusb_close(handle)
      SystemCall.close(descriptor)
      throw isGone ? .disconnected(label, code: error.code) : error
    }
  }

  private static func select(
    _ configuration: USBTransportConfiguration, _ handle: OpaquePointer, _ description: USBDeviceDescription
  ) throws(AccessoryError) -> USBSelection {
    var value: CInt = 0
    let result = libusb_get_configuration(handle, &value)
    let label = configuration.label
    guard result == 0 else {
      throw AccessoryError(libusb: result, "reading the configuration of \(label)", label: label)
    }
    guard let active = UInt8(exactly: value), active != 0 else {
      throw AccessoryError(
        .misconfigured,
        "\(label) has no active USB configuration: the bus may lack power for it, or a udev rule prevents it")
    }
    guard let setup = description.configuration(active) else {
      let damage = description.damage.map { ": \($0)" } ?? ""
      throw AccessoryError(.badData, "the USB descriptors of \(label) are invalid\(damage)")
    }
    return try USBSelection(configuration, in: setup)
  }

  private static func claim(
    _ configuration: USBTransportConfiguration, _ handle: OpaquePointer, _ selection: USBSelection
  ) throws(AccessoryError) {
    let label = configuration.label
    // Detaches the kernel driver of the interface, and reattaches it when the interface is released.
    libusb_set_auto_detach_kernel_driver(handle, 1)
    let claimed = libusb_claim_interface(handle, CInt(selection.interface))
    if claimed == LIBUSB_ERROR_BUSY.rawValue {
      var busy = PortDiagnosis.busy(configuration.path, label: label, hasLock: true)
      busy.code = .libusb(claimed)
      busy.message += " (interface \(selection.interface))"
      throw busy
    }
    guard claimed == 0 else {
      throw AccessoryError(libusb: claimed, "claiming interface \(selection.interface) of \(label)", label: label)
    }
    guard selection.alternateSetting != 0 else { return }
    let result = libusb_set_interface_alt_setting(
      handle, CInt(selection.interface), CInt(selection.alternateSetting))
    guard result == 0 else {
      libusb_release_interface(handle, CInt(selection.interface))
      throw AccessoryError(
        libusb: result, "setting interface \(selection.interface) of \(label) to \(selection.alternateSetting)",
        label: label)
    }
  }

  /// Clears the halt of an endpoint. Returns libusb's error, 0 for none.
  func clearHalt(_ endpoint: UInt8) -> CInt { libusb_clear_halt(handle, endpoint) }

  /// Returns the interface to the kernel's driver and closes the device.
  func release() {
    libusb_release_interface(handle, CInt(selection.interface))
    libusb_close(handle)
    SystemCall.close(descriptor)  // libusb never closes a descriptor that it was given
  }
}
