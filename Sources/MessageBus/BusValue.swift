// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// A value in a received D-Bus message. Variants are replaced by their contents.
package indirect enum BusValue: Sendable, Equatable {
  /// A truth value.
  case boolean(Bool)
  /// An integer of any size. Unsigned values above `Int64.max` become `Int64.max`.
  case integer(Int64)
  /// A floating point number.
  case real(Double)
  /// A string, or the signature of a type.
  case text(String)
  /// The path of an object.
  case path(String)
  /// An array of bytes.
  case bytes([UInt8])
  /// An array of anything else, or a structure.
  case list([BusValue])
  /// A dictionary, in the order of the message.
  case dictionary([Entry])
  /// A file descriptor.
  case descriptor(BusDescriptor)

  /// A key of a dictionary with its value.
  package struct Entry: Sendable, Equatable {
    package let key: BusValue
    package let value: BusValue
    package init(_ key: BusValue, _ value: BusValue) { (self.key, self.value) = (key, value) }
  }

  /// The truth value; nil when it is something else.
  package var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  /// The integer; nil when it is something else.
  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The string; nil when it is something else.
  package var text: String? { if case .text(let value) = self { value } else { nil } }
  /// The path of the object; nil when it is something else.
  package var path: String? { if case .path(let value) = self { value } else { nil } }
  /// The bytes; nil when it is something else.
  package var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
  /// The elements of a list; nil when it is something else.
  package var list: [BusValue]? { if case .list(let value) = self { value } else { nil } }
  /// The entries of a dictionary; nil when it is something else.
  package var entries: [Entry]? { if case .dictionary(let value) = self { value } else { nil } }
  /// The strings of a list of strings; nil when it is something else. Elements that aren't strings are left out.
  package var texts: [String]? { list.map { $0.compactMap(\.text) } }

  /// A dictionary with strings as its keys; nil when it is something else. Of two equal keys, the last one counts.
  package var properties: [String: BusValue]? {
    entries.map { entries in
      Dictionary(entries.compactMap { entry in entry.key.text.map { ($0, entry.value) } }) { $1 }
    }
  }
}

/// A file descriptor that came in a message. It is closed with its last reference, unless it was taken.
package final class BusDescriptor: Sendable, Equatable {
  private let descriptor: Locked<FileDescriptor?>

  /// Owns `descriptor` from now on.
  package init(owning descriptor: FileDescriptor) { self.descriptor = Locked(descriptor) }

  deinit { if let descriptor = take() { Socket.close(descriptor) } }

  /// The descriptor, which belongs to the caller from now on; nil when it was taken before.
  package func take() -> FileDescriptor? {
    descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
  }

  /// The descriptor's number; nil after it was taken.
  var number: CInt? { descriptor.withLock { $0?.rawValue } }

  /// Whether both are the same object.
  package static func == (a: BusDescriptor, b: BusDescriptor) -> Bool { a === b }
}

/// A value in a message to send.
package indirect enum BusArgument: Sendable, Equatable {
  /// A truth value.
  case boolean(Bool)
  case text(String)
  /// The path of an object.
  case path(String)
  /// An array of bytes.
  case bytes([UInt8])
  /// An array of arrays of bytes.
  case bytesList([[UInt8]])
  /// An array of strings.
  case texts([String])
  /// A signed integer of 32 bits.
  case signed32(Int32)
  /// An unsigned integer of 16 bits.
  case unsigned16(UInt16)
  /// An unsigned integer of 32 bits.
  case unsigned32(UInt32)
  /// A dictionary of strings and variants.
  case options([Option])
  case variant(BusArgument)
  /// A file descriptor. A copy of it is sent.
  case descriptor(BusDescriptor)
  /// The reply to `GetManagedObjects`: objects with one interface each.
  case objects([Object])

  /// One of our objects.
  package struct Object: Sendable, Equatable {
    package let path: String
    package let interface: String
    package let properties: [Option]
    package init(_ path: String, _ interface: String, _ properties: [Option]) {
      (self.path, self.interface, self.properties) = (path, interface, properties)
    }
  }

  /// A name with its value.
  package struct Option: Sendable, Equatable {
    package let name: String
    package let value: BusArgument
    package init(_ name: String, _ value: BusArgument) { (self.name, self.value) = (name, value) }
  }

  /// The D-Bus type of the value.
  package var signature: String {
    switch self {
    case .boolean: "b"
    case .text: "s"
    case .path: "o"
    case .bytes: "ay"
    case .bytesList: "aay"
    case .texts: "as"
    case .signed32: "i"
    case .unsigned16: "q"
    case .unsigned32: "u"
    case .options: "a{sv}"
    case .variant: "v"
    case .descriptor: "h"
    case .objects: "a{oa{sa{sv}}}"
    }
  }
}

/// A call of a method of an object on the bus.
package struct BusCall: Sendable {
  /// The name of the program that owns the object.
  package var destination: String
  /// The object.
  package var path: String
  /// The interface that has the method.
  package var interface: String
  /// The method.
  package var member: String
  /// The arguments, in order.
  package var arguments: [BusArgument]

  /// A call of `interface.member` of the object at `path`.
  package init(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument] = []
  ) {
    (self.destination, self.path, self.interface, self.member) = (destination, path, interface, member)
    self.arguments = arguments
  }
}

/// A message that was received: a signal, the reply to a call, or a call of one of our methods.
package struct BusMessage: Sendable, Equatable {
  /// The unique name of the sender, such as `:1.5`, or `org.freedesktop.DBus` for the bus itself.
  package var sender = ""
  /// The object of a signal.
  package var path = ""
  /// The interface of a signal.
  package var interface = ""
  /// The name of a signal.
  package var member = ""
  package var values: [BusValue] = []

  /// An empty message.
  package init() {}

  /// A message with these fields.
  package init(
    sender: String, path: String = "", interface: String = "", member: String = "", values: [BusValue] = []
  ) {
    (self.sender, self.path, self.interface, self.member) = (sender, path, interface, member)
    self.values = values
  }
}

/// A call to one of our objects. Answer it once, by `BusConnection.answer`.
package struct BusRequest: Sendable {
  /// The call's number, for the reply.
  package let id: Int
  /// The caller, the object, the method and its arguments.
  package let message: BusMessage
  /// Whether the caller waits for an answer. If not, none is sent.
  package let expectsReply: Bool
}

/// Why a call has failed.
package struct BusFailure: Error, Sendable, Equatable {
  /// The error's name on the bus, such as `org.bluez.Error.NotReady`; for local failures, the name that sd-bus uses.
  package var name: String
  /// The other program's message, for people. Escape it before showing it.
  package var text: String

  package init(_ name: String, _ text: String = "") { (self.name, self.text) = (name, text) }

  /// The message has an unknown form, or is too large.
  package static let malformed = BusFailure(
    "org.freedesktop.DBus.Error.InconsistentMessage", "the message makes no sense")
  /// The connection to the bus has ended.
  package static let disconnected = BusFailure(
    "org.freedesktop.DBus.Error.Disconnected", "the connection to the system bus has ended")
  /// The caller has stopped waiting.
  package static let cancelled = BusFailure("org.freedesktop.DBus.Error.NoReply", "cancelled")

  /// A failure of this machine.
  package init(_ errno: Errno) { self.init("System.Error.\(errno.rawValue)", errno.description) }

  /// Whether the other program or the bus has ended, so that no reply can come. dbus-daemon and sd-bus report this with the name of a
  /// timeout and these texts.
  package var isByEnd: Bool {
    name == "org.freedesktop.DBus.Error.NoReply" && (text.contains("disconnected") || text.contains("terminated"))
  }

  /// Whether no reply came in time.
  package var isTimeout: Bool {
    !isByEnd
      && [
        "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
        "System.Error.\(Errno.timedOut.rawValue)",
      ]
      .contains(name)
  }
}
