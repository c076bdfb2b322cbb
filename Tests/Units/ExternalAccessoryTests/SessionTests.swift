// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ExternalAccessory
import TestSupport
import Testing

/// Sessions from open to close, on a pseudo-terminal.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct SessionTests {
  @Test func aSessionHasItsAccessoryAndStreams() throws {
    let bench = try Bench()
    let accessory = try bench.accessory
    let session = try #require(EASession(accessory: accessory, forProtocol: framed))
    #expect(session.accessory === accessory)
    #expect(session.protocolString == framed)
    #expect(session.inputStream?.streamStatus == .notOpen)
    #expect(session.outputStream?.streamStatus == .notOpen)
    #expect(session.inputStream === session.inputStream)
    #expect(session.input.streamError == nil)
  }

  @Test func anUnknownProtocolStringIsUnsupported() throws {
    let bench = try Bench()
    #expect(EASession(accessory: try bench.accessory, forProtocol: "com.example.other") == nil)
    let error = #expect(throws: AccessoryError.self) {
      try EASession.open(try bench.accessory, forProtocol: "com.example.other")
    }
    #expect(error?.kind == .unsupported)
  }

  @Test func noSessionIsOpenedOnceTheAccessoryIsGone() async throws {
    let bench = try Bench()
    let accessory = try bench.accessory
    bench.unplug()
    try await eventually("the disconnection") { !accessory.isConnected }
    #expect(EASession(accessory: accessory, forProtocol: framed) == nil)
    #expect(throws: AccessoryError.disconnected("Gadget")) { try EASession.open(accessory, forProtocol: framed) }
  }

  @Test func noSessionIsOpenedWhileAnotherProgramHasIt() async throws {
    let bench = try Bench()
    let other = try await DescriptorTransport.open(TerminalConfiguration(path: try #require(bench.device.address.node)))
    let error = #expect(throws: AccessoryError.self) { try bench.session() }
    #expect(error?.kind == .busy)
    await other.close()
    _ = try bench.session()
  }

  /// The documented rule: the older session is closed before the new one is opened.
  @Test func aSecondSessionClosesTheFirst() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder()
      let first = try bench.session()
      try await thread.run { first.start(recorder, in: .current) }
      try await recorder.wait(for: .openCompleted, ofInput: true)
      let second = try bench.session()
      try await recorder.wait(for: .endEncountered, ofInput: true)
      try await recorder.wait(for: .endEncountered, ofInput: false)
      #expect(first.output.write([1]) == -1)
      second.output.open()
      #expect(second.output.write([2]) == 1)
      #expect(try await bench.terminal.read(1) == [2])
      first.closeStreams()
      #expect(second.output.write([3]) == 1, "the first one's close doesn't touch the second")
      #expect(try await bench.terminal.read(1) == [3])
    }
  }

  /// One line carries one conversation, whatever protocols there are.
  @Test func aSecondProtocolClosesTheFirstSession() throws {
    let bench = try Bench()
    var profile = Profile(name: "two", rules: [DeviceRule(serialNumber: "G1")], protocolStrings: ["a", "b"])
    profile.baudRate = 57_600
    let manager = EAAccessoryManager(sources: [bench.source], profiles: ProfileStore([profile]))
    let accessory = try #require(manager.connectedAccessories.first)
    let first = try EASession.open(accessory, forProtocol: "a")
    #expect(try bench.terminal.speeds().input == 57_600)
    let error = #expect(throws: AccessoryError.self) { try EASession.open(accessory, forProtocol: "b") }
    #expect(error?.kind == .busy)
    first.closeStreams()
    #expect(try EASession.open(accessory, forProtocol: "b").protocolString == "b")
  }

  /// Case 9: let go without being closed, with the streams still scheduled.
  @Test func aDroppedSessionFreesTheAccessory() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder()
      try await thread.run { try bench.session().start(recorder, in: .current) }
      try await bench.waitUntilFree()
      #expect(try await thread.count(of: "CFRunLoopSource") == 0)
    }
  }

  /// Streams that are kept longer than their session go on, each for itself, until they are closed or let go, too.
  @Test(arguments: [true, false]) func streamsGoOnWithoutTheirSession(areClosed: Bool) async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder()
      let streams = Locked<Handed<(InputStream, OutputStream)>?>(nil)
      try await thread.run {
        let session = try bench.session()
        session.start(recorder, in: .current)
        let handed = Handed(value: (session.input, session.output))
        streams.withLock { $0 = handed }
      }
      try await bench.terminal.write([1, 2, 3])
      try await recorder.bytes.wait { $0 == [1, 2, 3] }
      #expect(streams.withLock { $0 }?.value.1.write([4, 5]) == 2)
      #expect(try await bench.terminal.read(2) == [4, 5])
      // One direction is enough to keep the accessory.
      streams.withLock { $0 }?.value.0.close()
      #expect(streams.withLock { $0 }?.value.1.write([6]) == 1)
      #expect(try await bench.terminal.read(1) == [6])
      let error = await #expect(throws: AccessoryError.self) {
        try await DescriptorTransport.open(TerminalConfiguration(path: try #require(bench.device.address.node)))
      }
      #expect(error?.kind == .busy)
      if areClosed { streams.withLock { $0 }?.value.1.close() }
      streams.withLock { $0 = nil }
      try await bench.waitUntilFree()
      #expect(recorder.events(ofInput: false).allSatisfy { $0 == .openCompleted || $0 == .hasSpaceAvailable })
      #expect(try await thread.count(of: "CFRunLoopSource") == 0)
    }
  }

  /// Case 9, in all orders: twice, from any thread, delegate first, with and without taking them from the run loop, and
  /// from a mode in which they are not (case 8).
  @Test(arguments: 0..<6) func aSessionMayBeClosedInAnyOrder(_ way: Int) async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder()
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current, mode: .common) }
      try await recorder.wait(for: .openCompleted, ofInput: true)
      switch way {
      case 0:
        try await thread.run {
          for stream in [session.input, session.output] as [Stream] {
            stream.close()
            stream.remove(from: .current, forMode: .default)
          }
        }
      case 1:
        try await thread.run {
          for stream in [session.output, session.input] as [Stream] {
            stream.remove(from: .current, forMode: .common)
            stream.delegate = nil
            stream.close()
            stream.close()
          }
        }
      case 2:
        DispatchQueue.concurrentPerform(iterations: 16) {
          ($0 % 2 == 0 ? session.input : session.output as Stream).close()
        }
      case 3:
        let done = Watched(false)
        Thread {
          session.output.close()
          session.input.close()
          done.update { $0 = true }
        }.start()
        try await done.wait { $0 }
      case 4:
        session.input.delegate = nil
        session.output.delegate = nil
        session.closeStreams()
        session.closeStreams()
      default:
        try await thread.run {
          session.output.remove(from: .current, forMode: RunLoop.Mode("test.other"))
          session.output.close()
        }
        session.input.close()
      }
      // Closed by another thread, what is being told at that moment is told.
      if way > 1 { try await thread.run {} }
      let before = recorder.told.value
      try? await bench.terminal.write([1])
      try await thread.run {}
      #expect(recorder.told.value == before, "nothing is told after closing")
      #expect(session.input.streamStatus == .closed)
      #expect(session.output.streamStatus == .closed)
      #expect(session.input.read(1) == [])
      #expect(session.output.write([1]) == -1)
      #expect(!session.input.hasBytesAvailable)
      #expect(!session.output.hasSpaceAvailable)
      session.input.open()
      #expect(session.input.streamStatus == .closed)
      #expect(try await thread.count(of: "CFRunLoopSource") == 0)
      _ = try bench.session()
    }
  }

  /// A program that looks for an unplug finds the same error at both streams.
  @Test func anUnplugIsOneErrorAtBothStreams() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder()
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current) }
      try await recorder.wait(for: .openCompleted, ofInput: true)
      bench.terminal.unplug()
      for isInput in [true, false] {
        try await recorder.wait(for: .endEncountered, ofInput: isInput)
        let stream: Stream = isInput ? session.input : session.output
        let error = try #require(stream.streamError as NSError?)
        #expect(error.domain == NSPOSIXErrorDomain && error.code == Int(ENODEV))
        #expect((error.userInfo[NSUnderlyingErrorKey] as? AccessoryError)?.kind == .disconnected)
      }
    }
  }

  /// Closing within the delegate, as many do at the end.
  @Test func aDelegateMayCloseTheStreams() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder { stream, event in
        guard event == .endEncountered else { return }
        stream.close()
        stream.remove(from: .current, forMode: .default)
      }
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current) }
      try await recorder.wait(for: .openCompleted, ofInput: true)
      bench.unplug()
      try await recorder.wait(for: .endEncountered, ofInput: true)
      try await recorder.wait(for: .endEncountered, ofInput: false)
      #expect(session.input.streamStatus == .closed)
    }
  }
}
