// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CLibsystemd
import Glibc
import SystemPackage

/// Reads a message of sd-bus into values.
///
/// sd-bus has checked the message's form; the bus itself limits its size. This type also limits how many values are
/// taken, how deeply they are nested, how long a string is, and how many descriptors are copied.
struct BusReader {
  private let message: OpaquePointer
  private var left = Self.valueLimit
  private var bytesLeft = Self.byteLimit
  private var descriptorsLeft = Self.descriptorLimit

  /// The most values of a message: enough for 10,000 devices that advertise as many services as fit in a packet.
  private static let valueLimit = 2_000_000
  /// The deepest nesting. BlueZ uses seven levels.
  private static let depthLimit = 16
  /// The longest string and the longest array of bytes, in bytes; the rest is cut off. A value of GATT has 512 at most.
  static let textLimit = 4_096
  /// The most bytes of all strings and arrays: 10,000 devices need a tenth of it.
  private static let byteLimit = 1 << 26
  /// The most descriptors that are copied. A message may contain one of its descriptors any number of times.
  static let descriptorLimit = 16

  private init(_ message: OpaquePointer) { self.message = message }

  /// The message with its values, or the failure that it reports.
  static func read(_ message: OpaquePointer) -> Result<BusMessage, BusFailure> {
    if let error = sd_bus_message_get_error(message)?.pointee {
      return .failure(BusFailure(text(error.name), text(error.message)))
    }
    var read = BusMessage()
    read.sender = text(sd_bus_message_get_sender(message))
    read.path = text(sd_bus_message_get_path(message))
    read.interface = text(sd_bus_message_get_interface(message))
    read.member = text(sd_bus_message_get_member(message))
    var reader = BusReader(message)
    do throws(BusFailure) {
      read.values = try reader.values(depth: 0)
      return .success(read)
    } catch {
      return .failure(error)
    }
  }

  /// Reads the values up to the end of the current container.
  private mutating func values(depth: Int) throws(BusFailure) -> [BusValue] {
    guard depth < Self.depthLimit else { throw .malformed }
    var values: [BusValue] = []
    while let (type, contents) = try next() { values.append(try value(type, contents, depth)) }
    return values
  }

  /// The type of the next value, and the signature of its contents if it is a container; nil at the end.
  private func next() throws(BusFailure) -> (type: Unicode.Scalar, contents: String)? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard try check(sd_bus_message_peek_type(message, &type, &contents)) > 0 else { return nil }
    return (Unicode.Scalar(UInt8(bitPattern: type)), Self.text(contents))
  }

  private mutating func value(
    _ type: Unicode.Scalar, _ contents: String, _ depth: Int
  ) throws(BusFailure) -> BusValue {
    left -= 1
    guard left > 0 else { throw .malformed }
    switch type {
    case "y": return .integer(Int64(try basic(type, UInt8(0))))
    case "n": return .integer(Int64(try basic(type, Int16(0))))
    case "q": return .integer(Int64(try basic(type, UInt16(0))))
    case "i": return .integer(Int64(try basic(type, Int32(0))))
    case "u": return .integer(Int64(try basic(type, UInt32(0))))
    case "x": return .integer(try basic(type, Int64(0)))
    case "t": return .integer(Int64(clamping: try basic(type, UInt64(0))))
    case "d": return .real(try basic(type, 0.0))
    case "b": return .boolean(try basic(type, CInt(0)) != 0)
    case "s", "g": return .text(try string(type))
    case "o": return .path(try string(type))
    case "h": return .descriptor(try descriptor())
    case "a" where contents == "y": return .bytes(try bytes())
    case "v":
      return try inside(type, contents) { reader throws(BusFailure) in
        try reader.values(depth: depth + 1).first ?? .list([])
      }
    case "r":
      return try inside(type, contents) { reader throws(BusFailure) in
        .list(try reader.values(depth: depth + 1))
      }
    case "a" where contents.hasPrefix("{"):
      return try inside(type, contents) { reader throws(BusFailure) in .dictionary(try reader.entries(depth + 1)) }
    case "a":
      return try inside(type, contents) { reader throws(BusFailure) in .list(try reader.values(depth: depth + 1)) }
    default: throw .malformed
    }
  }

  private mutating func entries(_ depth: Int) throws(BusFailure) -> [BusValue.Entry] {
    var entries: [BusValue.Entry] = []
    while let (type, contents) = try next() {
      guard type == "e" else { throw .malformed }
      let pair = try inside(type, contents) { reader throws(BusFailure) in try reader.values(depth: depth + 1) }
      guard pair.count == 2 else { throw .malformed }
      entries.append(BusValue.Entry(pair[0], pair[1]))
    }
    return entries
  }

  private mutating func inside<Value>(
    _ type: Unicode.Scalar, _ contents: String, _ body: (inout BusReader) throws(BusFailure) -> Value
  ) throws(BusFailure) -> Value {
    try check(sd_bus_message_enter_container(message, SystemBus.type(type), contents))
    let value = try body(&self)
    try check(sd_bus_message_exit_container(message))
    return value
  }

  private func basic<Value: BitwiseCopyable>(_ type: Unicode.Scalar, _ initial: Value) throws(BusFailure) -> Value {
    var value = initial
    try check(sd_bus_message_read_basic(message, SystemBus.type(type), &value))
    return value
  }

  private mutating func string(_ type: Unicode.Scalar) throws(BusFailure) -> String {
    var pointer: UnsafePointer<CChar>?
    try check(sd_bus_message_read_basic(message, SystemBus.type(type), &pointer))
    let text = Self.text(pointer)
    try count(text.utf8.count)
    return text
  }

  private mutating func bytes() throws(BusFailure) -> [UInt8] {
    var pointer: UnsafeRawPointer?
    var size = 0
    try check(sd_bus_message_read_array(message, SystemBus.type("y"), &pointer, &size))
    size = pointer == nil ? 0 : min(size, Self.textLimit)
    try count(size)
    return Array(UnsafeRawBufferPointer(start: pointer, count: size))
  }

  /// Counts bytes against the message's limit. Throws when there are too many.
  private mutating func count(_ size: Int) throws(BusFailure) {
    guard size <= bytesLeft else { throw .malformed }
    bytesLeft -= size
  }

  /// Copies a descriptor, because the message closes its own.
  private mutating func descriptor() throws(BusFailure) -> BusDescriptor {
    guard descriptorsLeft > 0 else { throw .malformed }
    descriptorsLeft -= 1
    var number: CInt = -1
    try check(sd_bus_message_read_basic(message, SystemBus.type("h"), &number))
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw BusFailure(Errno(rawValue: errno)) }
    let descriptor = FileDescriptor(rawValue: copy)
    Socket.adopt(descriptor)
    return BusDescriptor(owning: descriptor)
  }

  @discardableResult
  private func check(_ result: CInt) throws(BusFailure) -> CInt {
    do throws(Errno) { return try SystemBus.check(result) } catch { throw BusFailure(error) }
  }

  /// A C string, cut off if it is too long.
  private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    guard let pointer else { return "" }
    let count = strnlen(pointer, textLimit)
    return String(decoding: UnsafeRawBufferPointer(start: pointer, count: count), as: UTF8.self)
  }
}
