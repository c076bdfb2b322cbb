// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CLibsystemd
import Glibc
import SystemPackage

// The calls of sd-bus (sd-bus(3)). All of them are made on the I/O thread, and none of them blocks: `sd_bus_call`,
// `sd_bus_wait` and `sd_bus_flush` aren't used.

/// An sd-bus connection. It holds a C pointer, so it is only used on the I/O thread.
struct SystemBus {
  let handle: OpaquePointer

  /// Starts to connect to the bus at `address`; nil means the system bus. Authentication continues while the bus is
  /// processed.
  static func open(_ address: String?) throws(Errno) -> SystemBus {
    var handle: OpaquePointer?
    try check(sd_bus_new(&handle))
    guard let handle else { throw .noMemory }
    let bus = SystemBus(handle: handle)
    do throws(Errno) {
      let place = address ?? getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
      try check(sd_bus_set_address(handle, place ?? "unix:path=/run/dbus/system_bus_socket"))
      try check(sd_bus_set_bus_client(handle, 1))
      // Other users run the other end, so its credentials aren't needed.
      try check(sd_bus_negotiate_fds(handle, 1))
      try check(sd_bus_start(handle))
    } catch {
      bus.close()
      throw error
    }
    return bus
  }

  /// Ends the connection. No callback is called after that.
  func close() {
    sd_bus_close(handle)
    sd_bus_unref(handle)
  }

  /// The socket.
  func descriptor() throws(Errno) -> FileDescriptor { FileDescriptor(rawValue: try Self.check(sd_bus_get_fd(handle))) }

  /// The readiness of the socket to wait for.
  func interest() throws(Errno) -> Interest {
    let events = try Self.check(sd_bus_get_events(handle))
    var interest: Interest = []
    if events & POLLIN != 0 { interest.insert(.read) }
    if events & POLLOUT != 0 { interest.insert(.write) }
    return interest
  }

  /// When to process the bus even if nothing arrives; nil means never.
  func deadline() -> MonotonicTime? {
    var microseconds = UInt64.max
    guard sd_bus_get_timeout(handle, &microseconds) >= 0, microseconds != .max else { return nil }
    return MonotonicTime(nanoseconds: Int64(clamping: microseconds).multipliedClamping(by: 1_000))
  }

  /// Does the next piece of work. Returns false when there is none.
  func process() throws(Errno) -> Bool { try Self.check(sd_bus_process(handle, nil)) > 0 }

  /// Calls `callback` with each signal that the rule matches, until the result is passed to `unwatch`. That must happen before the
  /// bus is closed.
  func watch(
    _ rule: String, _ context: UnsafeMutableRawPointer, _ callback: sd_bus_message_handler_t
  ) throws(Errno) -> OpaquePointer {
    var slot: OpaquePointer?
    try Self.check(sd_bus_add_match_async(handle, &slot, rule, callback, nil, context))
    guard let slot else { throw .noMemory }
    return slot
  }

  /// Ends what `watch` began. The bus stops sending these signals.
  func unwatch(_ rule: OpaquePointer) { sd_bus_slot_unref(rule) }

  /// Sends a call. `callback` is called once with the reply or an error, and not at all when the bus is closed before.
  func send(
    _ call: BusCall, within limit: Duration, _ context: UnsafeMutableRawPointer, _ callback: sd_bus_message_handler_t
  ) throws(Errno) {
    var message: OpaquePointer?
    try Self.check(
      sd_bus_message_new_method_call(handle, &message, call.destination, call.path, call.interface, call.member))
    guard let message else { throw .noMemory }
    defer { sd_bus_message_unref(message) }
    for argument in call.arguments { try Self.append(argument, to: message) }
    let microseconds = UInt64(clamping: max(1, limit.inNanoseconds / 1_000))
    try Self.check(sd_bus_call_async(handle, nil, message, callback, context, microseconds))
  }

  /// Calls `callback` with each method call to the object at `path`, until the bus is closed.
  func serve(_ path: String, _ context: UnsafeMutableRawPointer, _ callback: sd_bus_message_handler_t) throws(Errno) {
    try Self.check(sd_bus_add_object(handle, nil, path, callback, context))
  }

  /// Calls `callback` with each method call to the object at `path` and to all objects below it.
  func serveTree(
    _ path: String, _ context: UnsafeMutableRawPointer, _ callback: sd_bus_message_handler_t
  ) throws(Errno) {
    try Self.check(sd_bus_add_fallback(handle, nil, path, callback, context))
  }

  /// Sends a signal from one of our objects.
  func signal(
    _ path: String, _ interface: String, _ member: String, _ values: [BusArgument]
  ) throws(Errno) {
    var message: OpaquePointer?
    try Self.check(sd_bus_message_new_signal(handle, &message, path, interface, member))
    guard let message else { throw .noMemory }
    defer { sd_bus_message_unref(message) }
    for value in values { try Self.append(value, to: message) }
    try Self.check(sd_bus_send(handle, message, nil))
  }

  /// Answers a call to one of our objects.
  func answer(_ call: OpaquePointer, _ result: Result<[BusArgument], BusFailure>) throws(Errno) {
    switch result {
    case .success(let values):
      var message: OpaquePointer?
      try Self.check(sd_bus_message_new_method_return(call, &message))
      guard let message else { throw .noMemory }
      defer { sd_bus_message_unref(message) }
      for value in values { try Self.append(value, to: message) }
      try Self.check(sd_bus_send(handle, message, nil))
    case .failure(let failure):
      let result = failure.name.withCString { name in
        failure.text.withCString { text in
          var error = sd_bus_error(name: name, message: text, _need_free: 0)
          return sd_bus_reply_method_error(call, &error)
        }
      }
      try Self.check(result)
    }
  }

  private static func append(_ argument: BusArgument, to message: OpaquePointer) throws(Errno) {
    switch argument {
    case .boolean(let value):
      var number: CInt = value ? 1 : 0
      try check(sd_bus_message_append_basic(message, type("b"), &number))
    case .unsigned16(var value): try check(sd_bus_message_append_basic(message, type("q"), &value))
    case .signed32(var value): try check(sd_bus_message_append_basic(message, type("i"), &value))
    case .unsigned32(var value): try check(sd_bus_message_append_basic(message, type("u"), &value))
    case .text(let text): try append(text, "s", to: message)
    case .path(let path): try append(path, "o", to: message)
    case .bytes(let bytes): try check(sd_bus_message_append_array(message, type("y"), bytes, bytes.count))
    case .bytesList(let list):
      try check(sd_bus_message_open_container(message, type("a"), "ay"))
      for bytes in list { try check(sd_bus_message_append_array(message, type("y"), bytes, bytes.count)) }
      try check(sd_bus_message_close_container(message))
    case .texts(let texts):
      try check(sd_bus_message_open_container(message, type("a"), "s"))
      for text in texts { try append(text, "s", to: message) }
      try check(sd_bus_message_close_container(message))
    case .variant(let value):
      try check(sd_bus_message_open_container(message, type("v"), value.signature))
      try append(value, to: message)
      try check(sd_bus_message_close_container(message))
    case .descriptor(let descriptor):
      guard var number = descriptor.number else { throw .badFileDescriptor }
      // sd-bus copies the descriptor.
      try check(sd_bus_message_append_basic(message, type("h"), &number))
    case .objects(let objects):
      try check(sd_bus_message_open_container(message, type("a"), "{oa{sa{sv}}}"))
      for object in objects {
        try check(sd_bus_message_open_container(message, type("e"), "oa{sa{sv}}"))
        try append(object.path, "o", to: message)
        try check(sd_bus_message_open_container(message, type("a"), "{sa{sv}}"))
        try check(sd_bus_message_open_container(message, type("e"), "sa{sv}"))
        try append(object.interface, "s", to: message)
        try append(.options(object.properties), to: message)
        for _ in 0..<3 { try check(sd_bus_message_close_container(message)) }
      }
      try check(sd_bus_message_close_container(message))
    case .options(let options):
      try check(sd_bus_message_open_container(message, type("a"), "{sv}"))
      for option in options {
        try check(sd_bus_message_open_container(message, type("e"), "sv"))
        try append(option.name, "s", to: message)
        try append(.variant(option.value), to: message)
        try check(sd_bus_message_close_container(message))
      }
      try check(sd_bus_message_close_container(message))
    }
  }

  private static func append(_ text: String, _ kind: Unicode.Scalar, to message: OpaquePointer) throws(Errno) {
    guard !text.utf8.contains(0) else { throw .invalidArgument }
    let result = text.withCString { sd_bus_message_append_basic(message, type(kind), $0) }
    try check(result)
  }

  static func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

  /// Throws the errno that sd-bus returns as a negative number.
  @discardableResult
  static func check(_ result: CInt) throws(Errno) -> CInt {
    guard result >= 0 else { throw Errno(rawValue: -result) }
    return result
  }
}

extension Int64 {
  fileprivate func multipliedClamping(by factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}
