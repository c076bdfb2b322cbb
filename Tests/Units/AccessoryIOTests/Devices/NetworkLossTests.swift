// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// A peer on the network that loses its power, its cable or the way to it is unplugged, whatever TCP calls it.
  @Suite struct NetworkLossTests {
    static let losses = [
      ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ECONNRESET, EPIPE, EHOSTDOWN, ENETDOWN, ECONNABORTED,
    ].map { Errno(rawValue: $0) }

    @Test(arguments: losses, [SystemCall.read, .write]) func aLostNetworkIsOneDisconnection(
      _ errno: Errno, of call: SystemCall
    ) async throws {
      let arrived = Watched<DescriptorTransport?>(nil)
      let listener = try await NetworkListener.listen(at: "127.0.0.1", port: 0) { peer in arrived.update { $0 = peer } }
      let watched = Atomic<CInt>(-1)
      try await CallLog.record(deciding: { made, _ in
        made.call == call && made.descriptor == watched.load(ordering: .sequentiallyConsistent) ? errno : nil
      }) { log in
        let transport = try await DescriptorTransport.open(listener.address, label: "the gateway")
        let peer = try #require(try await arrived.wait { $0 != nil })
        let descriptor = try await log.first(.connect).descriptor
        try await OutputWriter(peer.output).write(pattern(100))
        try await eventually("what came before") { transport.input.count == 100 }
        watched.store(descriptor, ordering: .sequentiallyConsistent)
        // A loss shows in a read when something comes, which is the error itself in life, or in a write.
        if call == .read {
          try await OutputWriter(peer.output).write([1])
        } else {
          _ = transport.output.offer([1])
        }
        let ending = try await InputReader(transport.input).readToEnd()
        #expect(ending.bytes.prefix(100).elementsEqual(pattern(100)))
        #expect(ending.error == .disconnected("the gateway", code: .errno(errno.rawValue)))
        #expect(transport.output.offer([2]) == .closed(ending.error))
        await transport.close()
        watched.store(-1, ordering: .sequentiallyConsistent)
        await peer.close()
      }
      listener.close()
    }

    @Test(arguments: [EHOSTUNREACH, ENETUNREACH, ECONNRESET])
    func aNetworkErrorWhileConnectingIsADisconnection(_ number: CInt) async throws {
      try await CallLog.record(deciding: { made, _ in made.call == .connect ? Errno(rawValue: number) : nil }) { _ in
        let error = await #expect(throws: AccessoryError.self) {
          try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: 9))
        }
        #expect(error?.kind == .disconnected)
        #expect(error?.code == .errno(number))
        #expect(error?.message.hasPrefix("connecting to tcp:127.0.0.1:9: ") == true)
      }
    }
  }
}
