// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// The first promise: one thread does all I/O, and idles at no cost.
  @Suite struct OneThreadTests {
    private func withLinks(
      _ count: Int, io: IOThread, _ body: ([(near: DescriptorTransport, far: DescriptorTransport)]) async throws -> Void
    ) async throws {
      var links: [(near: DescriptorTransport, far: DescriptorTransport)] = []
      for _ in 0..<count {
        let pair = try await PseudoTerminal.open(io: io)
        links.append((pair.transport, try await DescriptorTransport.open(.init(path: pair.path), io: io)))
      }
      try await body(links)
      for link in links {
        await link.far.close()
        await link.near.close()
      }
    }

    @Test func oneThreadReadsAndWritesForFiftyLinks() async throws {
      _ = IOThread.shared
      try await withIOThread { io in
        try await CallLog.record { log in
          try await withLinks(50, io: io) { links in
            let bytes = pattern(10_000)
            try await withThrowingTaskGroup(of: Void.self) { group in
              for link in links {
                for (from, to) in [(link.near, link.far), (link.far, link.near)] {
                  group.addTask { try await OutputWriter(from.output).write(bytes) }
                  group.addTask {
                    let arrived = try await InputReader(to.input).read(bytes.count)
                    #expect(arrived == bytes)
                  }
                }
              }
              try await group.waitForAll()
            }
            let calls = log.calls.value.filter { [.read, .write, .epollWait].contains($0.call) && $0.thread != 0 }
            let ours = Set(calls.filter { $0.call == .read || $0.call == .write }.map(\.thread))
            #expect(ours.count == 1)
            #expect(Set(calls.filter { $0.call == .write }.map(\.descriptor)).count == 100)
            #expect(Set(calls.filter { $0.call == .read }.map(\.descriptor)).count >= 100)
          }
        }
        try await eventually("threads of earlier tests to end, and no other to be there") {
          ThisProcess.threadCount(named: "accessory-io") == 2
        }
      }
    }

    @Test func aQuietLinkWakesNobody() async throws {
      try await withIOThread { io in
        try await withLinks(50, io: io) { links in
          for link in links {
            // Used, and one of them paused; then quiet.
            try await OutputWriter(link.near.output).write([1])
            _ = try await InputReader(link.far.input).read(1)
          }
          await io.sleep(for: .milliseconds(1))  // a timer that has come leaves nothing behind either
          for _ in 0..<3 { await io.barrier() }
          let before = io.wakeUps
          try await Task.sleep(for: .milliseconds(300))  // the time that is measured, not one that is waited for
          #expect(io.wakeUps == before)
        }
      }
    }

    @Test func aBusyWriterKeepsNobodyWaiting() async throws {
      var ends: [CInt] = [-1, -1]
      try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC, 0, &ends) == 0)
      let (here, there) = (ends[0], ends[1])
      defer { close(there) }
      let transport = DescriptorTransport(
        descriptor: FileDescriptor(rawValue: here), label: "socket", timing: .instant, io: .shared,
        setup: SetupQueue(label: "socket")
      ) { close(here) }
      // The other end takes everything at once, and the producer offers more whenever there is space: both on the
      // loop's own thread, so that the order of events is always the same.
      let piece = pattern(20_000)
      let rounds = Watched(0)
      let roundsBeforeOthers = Watched<Int?>(nil)
      let output = transport.output
      output.onSpace {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while read(there, &buffer, buffer.count) > 0 {}
        let round = rounds.update { rounds in
          rounds += 1
          return rounds
        }
        if round == 1 { IOThread.shared.post { roundsBeforeOthers.update { $0 = rounds.value } } }
        if round < 1_000 { while output.offer(piece) == .accepted {} }
      }
      IOThread.shared.post { while output.offer(piece) == .accepted {} }
      try await rounds.wait { $0 == 1_000 }
      #expect(try #require(roundsBeforeOthers.value) < 50)
      await transport.close()
    }
  }
}
