// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Dispatch
import Glibc
import SystemPackage

/// A system bus with a bluetoothd on it: it answers what the test says.
package final class FakeBus: Sendable {
  /// A call that has come.
  package struct Call: Sendable {
    package let path: String
    package let member: String
    /// The arguments as they are on the wire.
    package let body: [UInt8]
    /// Which of the clients has made it, from 0 on, in the order in which they have come.
    package let client: Int
  }

  /// An answer to a call.
  package enum Answer: Sendable {
    case values([WireValue], descriptors: [FileDescriptor] = [])
    case error(String, String)
    case nothing
  }

  private struct Client {
    let descriptor: FileDescriptor
    var isGreeted = false
  }

  /// Where a client finds it.
  package let address: String
  private let directory: TemporaryDirectory
  private let clients = Locked<[Int: Client]>([:])
  private let listener = Locked<FileDescriptor?>(nil)
  private let received = Locked<[Call]>([])
  private let matched = Locked<[String]>([])
  private let answered = Locked<[(error: String?, body: [UInt8])]>([])
  private let signalled = Locked<[Call]>([])
  private let serial = Locked<UInt32>(1_000)
  /// The calls that have got no answer: by which client, and with which number.
  private let unanswered = Locked<[String: (client: Int, serial: UInt32)]>([:])
  private let answer: @Sendable (Call) -> Answer?

  /// bluetoothd's own name, and a stranger's.
  package static let owner = ":1.5"

  /// `answer` is called with each call on the thread of its client; nil means the usual answer. The bus takes `clientLimit` clients.
  package init(clients clientLimit: Int = 1, _ answer: @escaping @Sendable (Call) -> Answer?) throws {
    self.answer = answer
    directory = try TemporaryDirectory()
    address = "unix:path=\(directory.path)/bus"
    let listener = try UnixSocket.create(blocking: true)
    try UnixSocket.bind(listener, to: directory.path + "/bus")
    try Socket.listen(listener, backlog: 8 + CInt(min(clientLimit, 4_096)))
    self.listener.withLock { $0 = listener }
    DispatchQueue(label: "test.bus").async { [self] in
      for number in 0..<clientLimit {
        let client = FileDescriptor(rawValue: accept(listener.rawValue, nil, nil))
        guard client.rawValue >= 0 else { break }
        clients.withLock { $0[number] = Client(descriptor: client) }
        DispatchQueue(label: "test.bus.client").async { [self] in
          serve(client, number)
          clients.withLock { clients in
            clients[number] = nil
            Socket.close(client)
          }
        }
      }
      self.listener.withLock { $0 = nil }
      Socket.close(listener)
    }
  }

  /// Takes no more clients.
  package func close() {
    listener.withLock { listener in if let listener { shutdown(listener.rawValue, CInt(SHUT_RDWR)) } }
    hangUp()
  }

  /// The calls that have come, but for those that the bus itself answers.
  package var calls: [Call] { received.withLock { $0 } }

  /// The rules for signals that clients have asked for and not taken back, in the order in which they came.
  package var rules: [String] { matched.withLock { $0 } }

  /// The arguments of the calls of a method.
  package func bodies(of member: String) -> [[UInt8]] { calls.filter { $0.member == member }.map(\.body) }

  /// The signals of clients, in the order in which they have come.
  package var signals: [Call] { signalled.withLock { $0 } }

  /// Sends a signal; `sender` is bluetoothd unless another one is named.
  package func signal(
    _ path: String, _ interface: String, _ member: String, _ values: [WireValue], sender: String = FakeBus.owner
  ) {
    var message = WireMessage(.signal)
    (message.path, message.interface, message.member) = (path, interface, member)
    (message.sender, message.body) = (sender, values)
    send(message.bytes)
  }

  /// Sends the signal that properties have changed.
  package func changed(
    _ path: String, _ interface: String, _ properties: [(String, WireValue)], sender: String = FakeBus.owner
  ) {
    signal(
      path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
      [.text(interface), .properties(properties), .texts([])], sender: sender)
  }

  /// Calls a method of the client, as `sender`. What the client answers is in `answers`.
  package func call(
    _ path: String, _ interface: String, _ member: String, _ values: [WireValue], descriptors: [FileDescriptor] = [],
    sender: String = FakeBus.owner
  ) {
    var message = WireMessage(.call)
    message.serial = serial.withLock { serial in
      serial += 1
      return serial
    }
    (message.path, message.interface, message.member) = (path, interface, member)
    (message.sender, message.body, message.descriptorCount) = (sender, values, descriptors.count)
    message.destination = ":1.7"
    send(message.bytes, descriptors: descriptors)
    for descriptor in descriptors { Socket.close(descriptor) }
  }

  /// The client's answers to calls, in the order in which they have come: the name of an error, or the values.
  package var answers: [(error: String?, body: [UInt8])] { answered.withLock { $0 } }

  /// Ends the connections.
  package func hangUp() {
    clients.withLock { clients in for client in clients.values { shutdown(client.descriptor.rawValue, CInt(SHUT_RDWR)) }
    }
  }

  /// Sends bytes as they are, to all clients that were greeted, or to one.
  package func send(_ bytes: [UInt8], descriptors: [FileDescriptor] = [], to client: Int? = nil) {
    clients.withLock { clients in
      for (number, one) in clients where client == nil ? one.isGreeted : client == number {
        Self.send(bytes, descriptors, to: one.descriptor)
      }
    }
  }

  // MARK: - Its thread

  private func serve(_ client: FileDescriptor, _ number: Int) {
    var bytes: [UInt8] = []
    var isSignedIn = false
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(client.rawValue, &buffer, buffer.count)
      guard count > 0 else { return }
      bytes += buffer[..<count]
      if !isSignedIn {
        let begin = Array("BEGIN\r\n".utf8)
        guard let end = (0...max(0, bytes.count - begin.count)).first(where: { bytes[$0...].starts(with: begin) })
        else {
          continue
        }
        bytes.removeFirst(end + begin.count)
        isSignedIn = true
        send(
          Array("DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n".utf8), to: number)
      }
      while let (message, body, count) = WireMessage.read(bytes) {
        bytes.removeFirst(count)
        switch message.kind {
        case .call: reply(to: message, body, number)
        case .reply, .error: answered.withLock { $0.append((message.errorName, body)) }
        case .signal:
          signalled.withLock {
            $0.append(Call(path: message.path ?? "", member: message.member ?? "", body: body, client: number))
          }
        }
      }
    }
  }

  private func reply(to message: WireMessage, _ body: [UInt8], _ number: Int) {
    let call = Call(path: message.path ?? "", member: message.member ?? "", body: body, client: number)
    let name = "org.freedesktop.DBus"
    let isOfBus = message.destination == name
    note(call)
    if !isOfBus { received.withLock { $0.append(call) } }
    let usual: Answer =
      switch call.member {
      case "Hello": .values([.text(":1.\(7 + number)")])
      case "GetNameOwner": .values([.text(Self.owner)])
      case "GetManagedObjects": .values([.array("{oa{sa{sv}}}", [])])
      // The policy of the system bus lets nobody call what else the bus has.
      case _ where isOfBus && message.interface != name: .error(name + ".Error.AccessDenied", "Rejected send message")
      default: .values([])
      }
    var reply = WireMessage(.reply)
    reply.sender = isOfBus ? name : Self.owner
    reply.replySerial = message.serial
    switch answer(call) ?? usual {
    case .values(let values, let descriptors):
      (reply.body, reply.descriptorCount) = (values, descriptors.count)
      send(reply.bytes, descriptors: descriptors, to: number)
      for descriptor in descriptors { Socket.close(descriptor) }
      // A bus sends nothing else to a client before this.
      if isOfBus, call.member == "Hello" { clients.withLock { $0[number]?.isGreeted = true } }
    case .error(let name, let text):
      (reply.kind, reply.errorName, reply.body) = (.error, name, [.text(text)])
      send(reply.bytes, to: number)
    case .nothing: unanswered.withLock { $0[call.member] = (number, message.serial) }
    }
  }

  /// Answers the last call of a method that has got no answer with an error.
  package func fail(_ member: String, _ name: String) {
    guard let call = unanswered.withLock({ $0.removeValue(forKey: member) }) else { return }
    var reply = WireMessage(.error)
    (reply.sender, reply.replySerial, reply.errorName, reply.body) = (Self.owner, call.serial, name, [.text("")])
    send(reply.bytes, to: call.client)
  }

  private func note(_ call: Call) {
    // The argument is a text: its length in four bytes, and a zero at its end.
    let rule = String(decoding: call.body.dropFirst(4).dropLast(), as: UTF8.self)
    matched.withLock { rules in
      if call.member == "AddMatch" { rules.append(rule) }
      if call.member == "RemoveMatch", let place = rules.firstIndex(of: rule) { rules.remove(at: place) }
    }
  }

  /// Sends bytes with descriptors (cmsg(3)).
  private static func send(_ bytes: [UInt8], _ descriptors: [FileDescriptor], to client: FileDescriptor) {
    var bytes = bytes
    var control: [Int32] = []
    if !descriptors.isEmpty {
      // A header of 16 bytes: the length in 64 bits, the level, the type. Then the numbers, up to a multiple of 8.
      control = [Int32(16 + 4 * descriptors.count), 0, SOL_SOCKET, 1] + descriptors.map(\.rawValue)
      if control.count % 2 != 0 { control.append(0) }
    }
    let controlCount = control.count * 4
    bytes.withUnsafeMutableBytes { bytes in
      control.withUnsafeMutableBytes { control in
        var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        withUnsafeMutablePointer(to: &part) { part in
          var header = msghdr()
          header.msg_iov = part
          header.msg_iovlen = 1
          if controlCount > 0 {
            header.msg_control = control.baseAddress
            header.msg_controllen = 16 + 4 * descriptors.count
          }
          _ = sendmsg(client.rawValue, &header, CInt(MSG_NOSIGNAL))
        }
      }
    }
  }
}
