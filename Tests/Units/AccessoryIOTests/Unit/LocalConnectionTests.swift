// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryIO

/// What the kernel says of one connection.
@Suite struct LocalConnectionTests {
  /// An answer of the kernel about a connection in this state, whose file has this inode.
  private static func answer(type: UInt16 = 20, state: UInt8, inode: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 124)
    withUnsafeBytes(of: type) { bytes.replaceSubrange(4..<6, with: $0) }
    bytes[17] = state
    withUnsafeBytes(of: inode) { bytes.replaceSubrange(84..<88, with: $0) }
    return bytes
  }

  @Test func anAnswerIsRead() {
    #expect(ConnectionQuestion.isOpen(Self.answer(state: 1, inode: 7)) == true)
    #expect(ConnectionQuestion.isOpen(Self.answer(state: 5, inode: 7)) == true, "it has ended its own stream only")
    #expect(ConnectionQuestion.isOpen(Self.answer(state: 5, inode: 0)) == false)
    #expect(ConnectionQuestion.isOpen(Self.answer(state: 4, inode: 0)) == false)
    #expect(ConnectionQuestion.isOpen(Self.answer(state: 10, inode: 7)) == nil, "who listens there is another")
    #expect(ConnectionQuestion.isOpen(Self.answer(type: 2, state: 0, inode: 0)) == nil, "an error")
    for count in 0..<88 { #expect(ConnectionQuestion.isOpen(Array(Self.answer(state: 5, inode: 0)[..<count])) == nil) }
  }

  @Test func aQuestionIsWrittenAsTheKernelReadsIt() throws {
    let (from, to) = (try #require(IPAddress("127.0.0.2")), try #require(IPAddress("127.0.0.1")))
    let question = ConnectionQuestion.request(from: (from, 0x1234), to: (to, 7_000))
    #expect(question.count == 72 && question[16] == UInt8(AF_INET) && question[17] == 6)
    #expect(Array(question[24..<28]) == [0x12, 0x34, 0x1B, 0x58])
    #expect(Array(question[28..<32]) == [127, 0, 0, 2] && Array(question[44..<48]) == [127, 0, 0, 1])
    var answer = Self.answer(state: 5, inode: 7)
    #expect(!ConnectionQuestion.isAnswer(answer, to: question), "it is about another connection")
    answer.replaceSubrange(20..<24, with: question[24..<28])
    #expect(ConnectionQuestion.isAnswer(answer, to: question))
    let six = ConnectionQuestion.request(
      from: (try #require(IPAddress("::1")), 1), to: (try #require(IPAddress("::1")), 2))
    #expect(six[16] == UInt8(AF_INET6) && six[43] == 1 && six[59] == 1)
  }

  private static func connect(_ family: CInt, _ host: String) throws -> (client: CInt, server: CInt) {
    let listener = try NetworkSocket.listen(at: host, port: 0)
    defer { SystemCall.close(listener.descriptor) }
    let client = socket(family, CInt(SOCK_STREAM.rawValue), 0)
    var result: CInt = -1
    if family == AF_INET {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = listener.port.bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    } else {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = listener.port.bigEndian
      address.sin6_addr = in6addr_loopback
      result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    }
    try #require(result == 0)
    var server: CInt = -1
    while server < 0 { server = accept(listener.descriptor.rawValue, nil, nil) }
    return (client, server)
  }

  /// Asks the kernel of the machine that runs the test.
  @Test(arguments: [(AF_INET, "127.0.0.1"), (AF_INET6, "::1")])
  func whoHasLeftIsToldFromWhoHasOnlyEndedItsStream(family: CInt, host: String) throws {
    let (client, server) = try Self.connect(family, host)
    let descriptor = FileDescriptor(rawValue: server)
    #expect(!LocalConnections.hasPeerLeft(descriptor))
    shutdown(client, CInt(SHUT_WR))
    #expect(!LocalConnections.hasPeerLeft(descriptor))
    close(client)
    #expect(LocalConnections.hasPeerLeft(descriptor))
    close(server)
  }
}
