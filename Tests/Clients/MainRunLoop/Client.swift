// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import ExternalAccessory
import Glibc
import Synchronization
import TestSupport

/// A session with an accessory on a pseudo-terminal, whose other end is held here, too.
final class Client: NSObject, StreamDelegate {
  let terminal: TestTerminal
  let device: Device
  let source: FakeSource
  let manager: EAAccessoryManager
  var session: EASession?
  var input: InputStream?
  var output: OutputStream?
  /// What it was told, in order, and how many bytes it has read. The thread that measures looks at it, too.
  private let told = Mutex((events: [Stream.Event](), bytes: 0))
  var events: [Stream.Event] { told.withLock { $0.events } }
  var bytes: Int { told.withLock { $0.bytes } }
  var reads = true
  var closesAtEnd = false

  init(terminal: TestTerminal) {
    self.terminal = terminal
    device = .af1(at: terminal.path)
    source = FakeSource([device])
    manager = EAAccessoryManager(sources: [source])
    super.init()
  }

  var streams: [Stream] { [input as Stream?, output as Stream?].compactMap { $0 } }

  func open(mode: RunLoop.Mode = .common) {
    session = EASession(accessory: manager.connectedAccessories[0], forProtocol: "com.accessorybridge.framed")
    guard let session else { fail("no session") }
    (input, output) = (session.inputStream, session.outputStream)
    for stream in streams {
      stream.delegate = self
      stream.schedule(in: .main, forMode: mode)
      stream.open()
    }
  }

  func stream(_ stream: Stream, handle event: Stream.Event) {
    told.withLock { $0.events.append(event) }
    if event == .hasBytesAvailable, reads, let input = stream as? InputStream {
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = max(0, input.read(&buffer, maxLength: buffer.count))
      told.withLock { $0.bytes += count }
    }
    if event == .endEncountered, closesAtEnd { close() }
  }

  func close() {
    for stream in streams {
      stream.close()
      stream.remove(from: .main, forMode: .common)
      stream.delegate = nil
    }
  }

  /// Has a byte arrive.
  func feed() {
    do { _ = try terminal.writeSome([1]) } catch { fail("writing: \(error)") }
  }

  /// Runs the main run loop until this holds.
  func run(mode: RunLoop.Mode = .default, until condition: () -> Bool) {
    let end = Date(timeIntervalSinceNow: 30)
    while !condition() {
      if Date() > end { fail("waited in vain: \(events), \(bytes) bytes") }
      _ = RunLoop.main.run(mode: mode, before: Date(timeIntervalSinceNow: 0.02))
    }
  }

  /// Opens it and has a byte come in.
  func converse(mode: RunLoop.Mode = .common) {
    open(mode: mode)
    let former = bytes
    feed()
    run { bytes > former && streams.allSatisfy { $0.streamStatus == .open } }
  }
}

func fail(_ why: String) -> Never {
  print("failed: \(why)")
  fflush(nil)
  exit(1)
}

/// On another thread: waits a moment, in which `meanwhile` is called some times; then prints the ticks that this process
/// takes in two seconds, and ends it, with success when `holds`. On a busy machine it may still have to finish what it did
/// before, so it has five times two seconds to come to rest; a process that spins or polls does not.
func measure(
  meanwhile: @escaping @Sendable () -> Void = {}, holds: @escaping @Sendable () -> Bool = { true }
) {
  Thread {
    for _ in 0..<25 {
      usleep(20_000)
      meanwhile()
      DispatchQueue.main.async {}  // as a program has other things to do, too
    }
    usleep(200_000)
    var taken = Int.max
    for _ in 0..<5 where taken > 1 {
      let before = ticks()
      usleep(2_000_000)
      taken = ticks() - before
    }
    print("\(taken) ticks")
    if !holds() { fail("it was told what it shouldn't be, or not what it should") }
    fflush(nil)
    exit(0)
  }.start()
}

/// Of the processor, by this process: 100 a second.
private func ticks() -> Int {
  var used = tms()
  times(&used)
  return used.tms_utime + used.tms_stime
}
