// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CLibudev
import Glibc
import SystemPackage

/// Receives messages about devices of some subsystems.
///
/// If udev runs, the messages come from udev, which has then applied its rules and created links and permissions.
/// Otherwise they come from the kernel. libudev ignores messages that neither the kernel nor root has sent.
actor UdevMonitor: EventHandler {
  /// The sender of the messages.
  enum Group: String, Sendable { case udev, kernel }

  private nonisolated let io: IOThread
  private nonisolated let descriptor: FileDescriptor
  private nonisolated let body: @Sendable ([UdevMessage]) -> Void
  private var monitor: OpaquePointer?
  private var token: EventToken?

  /// The most messages that are handled at a time, so that a flood of them doesn't block the I/O thread.
  private static let batch = 64
  /// The size in bytes of the kernel's buffer for our messages. A message takes 2 to 4 KiB of it.
  private static let bufferSize: CInt = 8 << 20

  /// The I/O thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// The subsystems of USB devices, their HID reports, and terminals.
  static let ports = ["usb", "tty", "hidraw"]
  /// The subsystem of batteries and chargers.
  static let powerSupplies = "power_supply"

  /// A monitor that has started. Throws the error of listening to udev.
  static func starting(
    io: IOThread, subsystems: [String], _ body: @escaping @Sendable ([UdevMessage]) -> Void
  ) throws(AccessoryError) -> UdevMonitor {
    do throws(Errno) {
      let monitor = try UdevMonitor(io: io, subsystems: subsystems, body)
      do throws(Errno) {
        try monitor.start()
      } catch {
        monitor.stop()
        throw error
      }
      return monitor
    } catch {
      throw AccessoryError(errno: error, "listening to udev")
    }
  }

  /// Starts to receive messages about devices of these subsystems. Calls `body` with them on the I/O thread after `start`. Call `stop` when done.
  init(
    io: IOThread, group: Group? = nil, bufferSize: CInt = UdevMonitor.bufferSize, subsystems: [String] = ports,
    _ body: @escaping @Sendable ([UdevMessage]) -> Void
  ) throws(Errno) {
    // libudev returns errors as negative numbers, or in errno when it returns a pointer.
    guard let udev = udev_new() else { throw Errno(rawValue: errno) }
    defer { udev_unref(udev) }
    let group = group ?? (UdevLibrary.isRunning ? .udev : .kernel)
    guard let monitor = udev_monitor_new_from_netlink(udev, group.rawValue) else {
      throw Errno(rawValue: errno)
    }
    for subsystem in subsystems { udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nil) }
    // Only root may exceed the system's limit. When the buffer overflows, devices are scanned again.
    udev_monitor_set_receive_buffer_size(monitor, bufferSize)
    let result = udev_monitor_enable_receiving(monitor)
    guard result >= 0 else {
      udev_monitor_unref(monitor)
      throw Errno(rawValue: -result)
    }
    self.monitor = monitor
    self.io = io
    self.body = body
    descriptor = FileDescriptor(rawValue: udev_monitor_get_fd(monitor))
  }

  /// Starts to read the descriptor.
  nonisolated func start() throws(Errno) {
    let token = try io.watch(descriptor, for: .read, handler: self)
    io.post { self.assumeIsolated { $0.token = token } }
  }

  /// Stops the monitor; `body` isn't called afterwards. Must be called even if `start` wasn't.
  nonisolated func stop() {
    io.post { self.assumeIsolated { $0.end() } }
  }

  private func end() {
    if let token { io.unwatch(descriptor, token) }
    token = nil
    if let monitor { udev_monitor_unref(monitor) }
    monitor = nil
  }

  /// The I/O thread calls this when the descriptor is readable.
  nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.receive() } }

  private func receive() {
    guard let monitor else { return }
    var messages: [UdevMessage] = []
    // libudev parses the messages as it receives them; that reads nothing from the file system.
    loop: for _ in 0..<Self.batch {
      errno = 0
      if let device = udev_monitor_receive_device(monitor) {
        if let hint = UdevHint(device) { messages.append(.hint(hint)) }
        udev_device_unref(device)
        continue
      }
      switch errno {
      case ENOBUFS: messages.append(.overflow)
      case EAGAIN: break loop
      default: continue  // an invalid message
      }
    }
    if !messages.isEmpty { body(messages) }
  }
}

extension UdevHint {
  /// The meaning of a message; nil when it lacks a devpath or an action.
  fileprivate init?(_ device: OpaquePointer) {
    guard let path = udev_device_get_devpath(device), let action = udev_device_get_action(device) else { return nil }
    devpath = String(cString: path)
    switch String(cString: action) {
    case "remove": self.action = .removed
    case "move":
      self.action =
        udev_device_get_property_value(device, "DEVPATH_OLD").map { .moved(from: String(cString: $0)) }
        ?? .changed
    default: self.action = .changed
    }
    address = udev_device_get_property_value(device, "DEVNUM").flatMap { Int(String(cString: $0)) }
    properties = udev_device_get_is_initialized(device) > 0 ? UdevLibrary.properties(device) : nil
  }
}
