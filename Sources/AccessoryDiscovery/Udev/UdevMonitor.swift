// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CLibudev
import Glibc
import SystemPackage

/// Receives messages about USB devices and terminals.
///
/// They are udev's where it runs: then its rules have been applied, and the links and permissions are there. Where it
/// doesn't, they are the kernel's own. libudev ignores what neither the kernel nor root has sent.
actor UdevMonitor: EventHandler {
  /// Whose messages.
  enum Group: String, Sendable { case udev, kernel }

  private nonisolated let io: IOThread
  private nonisolated let descriptor: FileDescriptor
  private nonisolated let body: @Sendable ([UdevMessage]) -> Void
  private var monitor: OpaquePointer?
  private var token: EventToken?

  /// Messages that are handled at a time, so that a flood of them doesn't block the I/O thread.
  private static let batch = 64
  /// Bytes that the kernel keeps for us at most. A message needs 2 to 4 KiB of it.
  private static let bufferSize: CInt = 8 << 20

  /// The I/O thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Starts to listen, and calls `body` on the I/O thread with each message. Call `stop` when done.
  init(
    io: IOThread, group: Group? = nil, bufferSize: CInt = UdevMonitor.bufferSize,
    _ body: @escaping @Sendable ([UdevMessage]) -> Void
  ) throws(Errno) {
    // libudev gives back errors as negative numbers, and where it gives back a pointer in errno.
    guard let udev = udev_new() else { throw Errno(rawValue: errno) }
    defer { udev_unref(udev) }
    let group = group ?? (UdevLibrary.isRunning ? .udev : .kernel)
    guard let monitor = udev_monitor_new_from_netlink(udev, group.rawValue) else {
      throw Errno(rawValue: errno)
    }
    udev_monitor_filter_add_match_subsystem_devtype(monitor, "usb", nil)
    udev_monitor_filter_add_match_subsystem_devtype(monitor, "tty", nil)
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

  /// Begins to serve the descriptor.
  nonisolated func start() throws(Errno) {
    let token = try io.watch(descriptor, for: .read, handler: self)
    io.post { self.assumeIsolated { $0.token = token } }
  }

  /// Stops listening; `body` isn't called afterwards. Must be called even if it was never started.
  nonisolated func stop() {
    io.post { self.assumeIsolated { $0.end() } }
  }

  private func end() {
    if let token { io.unwatch(descriptor, token) }
    token = nil
    if let monitor { udev_monitor_unref(monitor) }
    monitor = nil
  }

  /// Called by the loop.
  nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.receive() } }

  private func receive() {
    guard let monitor else { return }
    var messages: [UdevMessage] = []
    // The messages are taken apart by libudev as they are received; nothing is read from the file system for that.
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
      default: continue  // one that makes no sense
      }
    }
    if !messages.isEmpty { body(messages) }
  }
}

extension UdevHint {
  /// The meaning of a message; nil when it concerns no device of interest.
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
