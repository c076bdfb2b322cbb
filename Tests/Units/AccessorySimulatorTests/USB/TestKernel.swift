// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import Glibc
import SystemPackage
import TestSupport

@testable import AccessorySimulator

/// A kernel's side of USB/IP, written from its documentation and not from the code under test.
struct TestKernel: Sendable {
  /// What a device answered.
  struct Reply: Sendable, Equatable {
    /// 3 for a transfer's end, 4 for an unlink's.
    var command: UInt32
    var sequence: UInt32
    var status: Int32
    var count = 0
    var data: [UInt8] = []

    static func done(_ sequence: UInt32, count: Int = 0, _ data: [UInt8] = []) -> Reply {
      Reply(command: 3, sequence: sequence, status: 0, count: data.isEmpty ? count : data.count, data: data)
    }

    static func failed(_ sequence: UInt32, _ status: Int32, _ data: [UInt8] = []) -> Reply {
      Reply(command: 3, sequence: sequence, status: status, count: data.count, data: data)
    }
  }

  private(set) var sequence: UInt32 = 0
  private var ins: Set<UInt32> = []
  private var unread: [UInt8] = []

  private static func be(_ words: [UInt32]) -> [UInt8] {
    words.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
  }

  /// A transfer; the next free number is its own.
  mutating func submit(
    _ endpoint: UInt8, length: Int? = nil, flags: UInt32 = 0, setup: [UInt8] = [UInt8](repeating: 0, count: 8),
    data: [UInt8] = [], packets: UInt32 = 0
  ) -> [UInt8] {
    sequence += 1
    let isIn = endpoint & 0x80 != 0
    if isIn { ins.insert(sequence) }
    let head = [1, sequence, 0x1_0002, isIn ? 1 : 0, UInt32(endpoint & 0x7F), flags, UInt32(length ?? data.count)]
    return Self.be(head + [0, packets, 0]) + setup + data
  }

  mutating func unlink(_ target: UInt32) -> [UInt8] {
    sequence += 1
    return Self.be([2, sequence, 0x1_0002, 0, 0, target]) + [UInt8](repeating: 0, count: 24)
  }

  /// A control transfer: the setup packet's five fields, and data for one that goes out.
  mutating func control(
    _ type: UInt8, _ request: UInt8, value: UInt16 = 0, index: UInt16 = 0, length: UInt16 = 0, data: [UInt8] = []
  ) -> [UInt8] {
    let length = data.isEmpty ? length : UInt16(data.count)
    let setup = [type, request] + [value, index, length].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    return submit(type & 0x80, length: Int(length), setup: setup, data: data)
  }

  /// The replies in what a device sent; what isn't all there is kept for the next time.
  mutating func read(_ bytes: [UInt8]) -> [Reply] {
    unread += bytes
    var replies: [Reply] = []
    while unread.count >= 48 {
      let head = Array(unread.prefix(48))
      let word = { (index: Int) in head[(4 * index)..<(4 * index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
      let (command, number, status, count) = (word(0), word(1), Int32(bitPattern: word(5)), Int(word(6)))
      let size = command == 3 && ins.contains(number) ? count : 0
      guard unread.count >= 48 + size else { break }
      replies.append(
        Reply(
          command: command, sequence: number, status: status, count: command == 3 ? count : 0,
          data: Array(unread[48..<(48 + size)])))
      unread.removeFirst(48 + size)
    }
    return replies
  }
}

/// A device and a kernel without anything between.
struct Bench {
  var device: SimulatedUSBDevice
  var kernel = TestKernel()
  private var decoder = USBIPDecoder()

  init(_ identity: SimulatedUSBIdentity) { device = SimulatedUSBDevice(identity) }
  init(_ kind: SimulatedUSBIdentity.Kind) { self.init(SimulatedUSBIdentity(kind)) }

  /// What the device answers to these bytes.
  mutating func give(_ bytes: [UInt8]) throws -> [TestKernel.Reply] {
    var replies: [UInt8] = []
    decoder.append(bytes)
    while let request = try decoder.next() { try device.take(request, replies: &replies) }
    return kernel.read(replies)
  }

  mutating func submit(_ endpoint: UInt8, length: Int? = nil, flags: UInt32 = 0, data: [UInt8] = []) throws
    -> [TestKernel.Reply]
  {
    try give(kernel.submit(endpoint, length: length, flags: flags, data: data))
  }

  mutating func unlink(_ target: UInt32) throws -> [TestKernel.Reply] { try give(kernel.unlink(target)) }

  /// The one answer to a control transfer.
  mutating func control(
    _ type: UInt8, _ request: UInt8, value: UInt16 = 0, index: UInt16 = 0, length: UInt16 = 0, data: [UInt8] = []
  ) throws -> TestKernel.Reply? {
    try give(kernel.control(type, request, value: value, index: index, length: length, data: data)).first
  }

  /// What the device answers when the accessory sends these bytes.
  mutating func send(_ bytes: [UInt8]) -> [TestKernel.Reply] {
    act { device, replies in device.send(bytes, replies: &replies) }
  }

  mutating func act(_ body: (inout SimulatedUSBDevice, inout [UInt8]) -> Void) -> [TestKernel.Reply] {
    var replies: [UInt8] = []
    body(&device, &replies)
    return kernel.read(replies)
  }

  /// What has come for the accessory since the last time.
  mutating func received() -> [UInt8] {
    defer { device.received = [] }
    return device.received.flatMap { $0 }
  }
}

/// A host whose cables end in this test.
final class TestHost: USBHost {
  private let ends = Watched<[CInt]>([])

  func attach(speed: Int, preferring path: String?) throws(AccessoryError) -> USBCable {
    var pair: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
      throw AccessoryError(errno: Errno(rawValue: errno), "making a socket")
    }
    let (theirs, ours) = (pair[0], pair[1])
    let count = ends.update {
      $0.append(ours)
      return $0.count
    }
    return USBCable(descriptor: FileDescriptor(rawValue: theirs), path: "port \(count)")
  }

  /// The cable of the plug number `number`, counted from 1.
  func cable(_ number: Int = 1) async throws -> TestCable {
    TestCable(try await ends.wait { $0.count >= number }[number - 1])
  }
}

/// The kernel's end of a cable.
final class TestCable: Sendable {
  let transport: DescriptorTransport
  private let session: AccessorySession
  private let reader: InputReader
  private let kernel = Locked(TestKernel())
  private let replies = Locked<[TestKernel.Reply]>([])

  init(_ descriptor: CInt) {
    transport = DescriptorTransport(
      descriptor: FileDescriptor(rawValue: descriptor), label: "cable", timing: .instant, io: .shared,
      setup: SetupQueue(label: "cable")
    ) { close(descriptor) }
    session = AccessorySession(transport)
    reader = InputReader(transport.input)
  }

  /// Sends what `body` makes; returns the number of the last request in it.
  @discardableResult
  func give(_ body: @Sendable (inout TestKernel) -> [UInt8]) async throws -> UInt32 {
    let (bytes, sequence) = kernel.withLock { (body(&$0), $0.sequence) }
    try await session.write(bytes)
    return sequence
  }

  /// The reply to the request of this number.
  func reply(to sequence: UInt32) async throws -> TestKernel.Reply {
    while true {
      let found = replies.withLock { replies in
        replies.firstIndex { $0.sequence == sequence }.map { replies.remove(at: $0) }
      }
      if let found { return found }
      let bytes = try await reader.read(1)
      let more = kernel.withLock { $0.read(bytes) }
      replies.withLock { $0 += more }
    }
  }

  /// Waits for the end of the cable: what had been sent before.
  func end() async throws -> [TestKernel.Reply] {
    let ending = try await reader.readToEnd()
    let more = kernel.withLock { $0.read(ending.bytes) }
    return replies.withLock { replies in
      defer { replies = [] }
      return replies + more
    }
  }
}
