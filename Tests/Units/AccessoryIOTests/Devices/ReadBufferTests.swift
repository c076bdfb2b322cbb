// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Testing

/// Says of itself that it is on the I/O thread, and is not: the one mistake that the compiler doesn't find.
private actor Stray: IOActor {
  nonisolated let io = IOThread.shared

  func firstByte() -> UInt8? { withReadBuffer { $0.first } }
}

private actor Settled: IOActor {
  nonisolated let io = IOThread.shared
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  func size() -> Int { withReadBuffer { $0.count } }
}

/// The one buffer of an I/O thread. That only its actors can ask for it is for the compiler to see.
@Suite struct ReadBufferTests {
  @Test func actorsOnTheThreadShareItsReadBuffer() async { #expect(await Settled().size() == 65_536) }

  @Test func anActorOffTheThreadGetsNoReadBuffer() async {
    await #expect(processExitsWith: .failure) { _ = await Stray().firstByte() }
  }
}
