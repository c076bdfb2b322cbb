// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import Foundation
import TestSupport
import Testing

@testable import ExternalAccessory

/// The streams over a transport whose device the test is, to the byte.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct ChannelTests {
  private struct Rig {
    let transport = MemoryTransport()
    let channel: SessionChannel
    let input: AccessoryInputStream
    let output: AccessoryOutputStream
    let lost = Watched(0)

    init() {
      let lost = lost
      let channel = SessionChannel(AccessorySession(transport), protocolString: "p") { lost.update { $0 += 1 } }
      input = AccessoryInputStream(channel.input) { channel.streamClosed() }
      output = AccessoryOutputStream(channel.output) { channel.streamClosed() }
      self.channel = channel
    }
  }

  /// The complaint of every EV3 user: a device that takes nothing has no space, and says so.
  @Test func aStalledDeviceHasNoSpace() async throws {
    try await LoopThread.with { thread in
      let rig = Rig()
      let recorder = Recorder()
      let output = Handed(value: rig.output)
      try await thread.run {
        output.value.delegate = recorder
        output.value.schedule(in: .current, forMode: .default)
        output.value.open()
      }
      try await recorder.wait(for: .hasSpaceAvailable, ofInput: false)
      rig.transport.stall()
      #expect(rig.output.write([UInt8](repeating: 1, count: 16_384)) == 16_384)
      #expect(!rig.output.hasSpaceAvailable)
      #expect(rig.output.write([1]) == 0, "no space is no error")
      for _ in 0..<5 { try await thread.run {} }
      #expect(recorder.count(.hasSpaceAvailable, ofInput: false) == 1)
      rig.transport.unstall()
      try await recorder.wait(for: .hasSpaceAvailable, ofInput: false, count: 2)
      #expect(rig.output.hasSpaceAvailable)
      // Without having been refused: a write that fills it is enough to be told.
      rig.transport.stall()
      #expect(rig.output.write([UInt8](repeating: 1, count: 20_000)) == 20_000)
      for _ in 0..<5 { try await thread.run {} }
      #expect(recorder.count(.hasSpaceAvailable, ofInput: false) == 2)
      rig.transport.unstall()
      try await recorder.wait(for: .hasSpaceAvailable, ofInput: false, count: 3)
    }
  }

  @Test func anIOFailureIsAnErrorAndNoDisconnection() async throws {
    try await LoopThread.with { thread in
      let rig = Rig()
      let recorder = Recorder()
      let streams = Handed(value: [rig.input, rig.output] as [Stream])
      try await thread.run {
        for stream in streams.value {
          stream.delegate = recorder
          stream.schedule(in: .current, forMode: .default)
          stream.open()
        }
      }
      rig.transport.receive([1, 2])
      rig.transport.end(AccessoryError(.ioFailure, code: .errno(75), "reading it: value too large"))
      try await recorder.wait(for: .errorOccurred, ofInput: true)
      try await recorder.wait(for: .errorOccurred, ofInput: false)
      #expect(recorder.bytes.value == [1, 2])
      for stream in streams.value {
        #expect(stream.streamStatus == .error)
        let error = try #require(stream.streamError as NSError?)
        #expect(error.domain == NSPOSIXErrorDomain)
        #expect(error.code == 75)
        #expect(error.localizedDescription == "reading it: value too large")
        #expect((error.userInfo[NSUnderlyingErrorKey] as? AccessoryError)?.kind == .ioFailure)
      }
      #expect(rig.output.write([1]) == -1)
      #expect(rig.input.read(10) == [])
      #expect(rig.lost.value == 0, "it may be there still")
    }
  }

  @Test func bothStreamsClosedIsClosed() async throws {
    for isInputFirst in [true, false] {
      let rig = Rig()
      rig.input.open()
      rig.output.open()
      (isInputFirst ? rig.input : rig.output as Stream).close()
      #expect(rig.transport.closeCount == 0)
      (isInputFirst ? rig.input : rig.output as Stream).close()
      #expect(rig.transport.closeCount == 0, "the same one again is not the other")
      (isInputFirst ? rig.output : rig.input as Stream).close()
      #expect(rig.transport.closeCount == 1)
    }
  }

  /// Of a session whose input is closed the output can still be used, and the accessory isn't held up by that.
  @Test func theOutputWorksOnceTheInputIsClosed() async throws {
    let rig = Rig()
    rig.input.open()
    rig.output.open()
    rig.transport.receive([1])
    rig.input.close()
    for _ in 0..<20 { rig.transport.receive([UInt8](repeating: 1, count: 65_536)) }
    #expect(!rig.transport.isPaused)
    #expect(rig.transport.input.count == 0)
    #expect(rig.input.read(10) == [])
    #expect(rig.output.write([5]) == 1)
    #expect(rig.transport.written == [5])
  }

  /// A client that reads nothing makes the accessory wait; nothing grows.
  @Test func aClientThatReadsNothingPausesTheAccessory() async throws {
    try await LoopThread.with { thread in
      let rig = Rig()
      let recorder = Recorder(readLimit: 0)
      let input = Handed(value: rig.input)
      try await thread.run {
        input.value.delegate = recorder
        input.value.schedule(in: .current, forMode: .default)
        input.value.open()
      }
      var sent = 0
      while sent < 10_000_000, rig.transport.receive(pattern(1_000, from: sent)) {
        sent += 1_000
        try await thread.run {}
      }
      sent += 1_000
      #expect(rig.transport.isPaused)
      #expect(sent < 200_000)
      var read: [UInt8] = []
      try await eventually("all bytes") {
        read += rig.input.read(10_000)
        return read.count >= sent
      }
      #expect(read == pattern(sent))
      #expect(!rig.transport.isPaused)
    }
  }

  @Test func theEndWithoutARunLoop() async throws {
    let rig = Rig()
    rig.input.open()
    rig.output.open()
    rig.transport.receive([1, 2, 3])
    rig.transport.unplug()
    #expect(rig.lost.value == 1)
    #expect(rig.output.streamStatus == .atEnd)
    #expect(!rig.output.hasSpaceAvailable)
    #expect(rig.input.streamStatus == .open, "there are bytes")
    #expect(rig.input.read(10) == [1, 2, 3])
    #expect(rig.input.streamStatus == .atEnd)
    #expect(rig.input.read(10) == [])
    #expect(!rig.input.hasBytesAvailable)
    #expect((rig.input.streamError as NSError?)?.code == 19, "ENODEV")
  }

  /// Each kind of line has its own word for an accessory that is gone; a program reads one.
  @Test(
    arguments: [
      .errno(EIO), .errno(ENXIO), .errno(ENODEV), .errno(ESHUTDOWN), .errno(ECONNRESET), .errno(EHOSTUNREACH),
      .libusb(-4), nil,
    ] as [AccessoryError.Code?])
  func everyDisconnectionIsENODEV(_ code: AccessoryError.Code?) throws {
    let rig = Rig()
    rig.input.open()
    rig.output.open()
    rig.transport.end(.disconnected("memory", code: code))
    #expect(rig.input.read(1) == [])
    for stream in [rig.input, rig.output] as [Stream] {
      #expect(stream.streamStatus == .atEnd)
      let error = try #require(stream.streamError as NSError?)
      #expect(error.domain == NSPOSIXErrorDomain)
      #expect(error.code == Int(ENODEV))
      #expect((error.userInfo[NSUnderlyingErrorKey] as? AccessoryError)?.code == code, "the line's own word")
    }
  }

  /// A client lets its streams go, and what closes them, at the moment when the end is to be told: whoever has the last
  /// reference then doesn't hold a lock.
  @Test func letGoWhenTheEndIsTold() async throws {
    final class Client: NSObject, StreamDelegate, Sendable {
      let stream = Locked<Handed<AccessoryInputStream>?>(nil)
      func stream(_ stream: Stream, handle event: Stream.Event) {}
      deinit { stream.withLock { $0 }?.value.close() }
    }
    try await LoopThread.with { thread in
      let loop = try await thread.loop()
      try await blocking {
        for index in 0..<20_000 {
          let core = InputCore(MemoryTransport().input)
          let client = Client()
          let stream = AccessoryInputStream(core) {}
          stream.delegate = client
          stream.schedule(in: loop.value, forMode: .default)
          stream.open()
          let held = Locked<(Client, Handed<AccessoryInputStream>)?>((client, Handed(value: stream)))
          client.stream.withLock { $0 = index % 2 == 0 ? Handed(value: stream) : nil }
          Self.together(
            { for _ in 0..<10 { core.notifier.whenTold {} } }, { held.withLock { $0 = nil } })
        }
      }
    }
  }

  /// Runs both at once, and returns behind them.
  private static func together(_ one: @escaping @Sendable () -> Void, _ other: @escaping @Sendable () -> Void) {
    DispatchQueue.concurrentPerform(iterations: 2) { $0 == 0 ? one() : other() }
  }

  @Test func theBaseClassesAreNotUsed() throws {
    let rig = Rig()
    #expect(rig.input.property(forKey: .dataWrittenToMemoryStreamKey) == nil)
    #expect(!rig.output.setProperty(nil, forKey: .dataWrittenToMemoryStreamKey))
    #expect(rig.output.property(forKey: .dataWrittenToMemoryStreamKey) == nil)
    var pointer: UnsafeMutablePointer<UInt8>?
    var length = 0
    #expect(!rig.input.getBuffer(&pointer, length: &length))
    let memory = AccessoryOutputStream(toMemory: ())
    memory.open()
    #expect(memory.write([1]) == 0)
  }
}
