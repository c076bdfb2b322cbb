// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import ExternalAccessory
import Glibc

/// How a client is done with its streams, or what it does with them instead.
enum Teardown: String {
  /// Apple's example: closed, removed, without a delegate, and the session let go.
  case closed
  /// The same in another order, while the session is kept.
  case delegateFirst
  case closedByAnotherThread
  /// A hundred sessions one after another.
  case hundredTimes
  /// Both streams at the first end that the delegate is told of.
  case closedAtFirstEnd
  /// Left as they are at the end.
  case leftAtTheEnd
  /// Everything let go, without being closed.
  case letGo
  /// The input is taken out of the run loop, open, while bytes arrive.
  case removedWhileBytesArrive
  /// The same, and the session is let go while the streams are kept.
  case removedAndSessionLetGo
  /// Scheduled in the common modes and removed from the default one.
  case removedFromDefault
  /// The delegate is taken away, and bytes arrive.
  case withoutDelegate
  /// The delegate reads nothing of what arrives.
  case unread
  /// Scheduled in a mode of the client's own, which doesn't run.
  case privateMode
  /// The main run loop runs in a common mode of the client's own; the streams are in the default one.
  case anotherCommonMode
  /// Bytes arrive while the main run loop runs in a mode of the client's own; then it runs no more.
  case privateModeThenMainQueue
  /// Bytes arrive when the main run loop runs no more.
  case mainQueue

  /// Does it, and runs the main run loop.
  func perform(with client: Client) -> Never {
    /// Only looked at by the thread that measures while the main thread waits.
    nonisolated(unsafe) let client = client
    switch self {
    case .closed:
      client.converse()
      client.close()
      (client.session, client.input, client.output) = (nil, nil, nil)
      measure()
    case .delegateFirst:
      client.converse()
      for stream in client.streams.reversed() {
        stream.delegate = nil
        stream.remove(from: .main, forMode: .common)
        stream.close()
        stream.close()
      }
      measure()
    case .closedByAnotherThread:
      client.converse()
      Thread { client.close() }.start()
      measure()
    case .hundredTimes:
      for _ in 0..<100 {
        client.converse()
        client.close()
      }
      measure()
    case .closedAtFirstEnd:
      client.closesAtEnd = true
      client.converse()
      client.terminal.unplug()
      client.run { client.events.contains(.endEncountered) }
      client.source.remove(client.device)
      measure()
    case .leftAtTheEnd:
      client.converse()
      client.terminal.unplug()
      client.run { client.events.count { $0 == .endEncountered } == 2 }
      client.source.remove(client.device)
      measure()
    case .letGo:
      client.converse()
      (client.session, client.input, client.output) = (nil, nil, nil)
      measure()
    case .removedWhileBytesArrive, .removedAndSessionLetGo:
      client.converse()
      client.feed()
      for stream in client.streams { stream.remove(from: .main, forMode: .common) }
      if self == .removedAndSessionLetGo { client.session = nil }
      let former = client.events.count
      measure(
        meanwhile: { client.feed() },
        holds: { client.events.count == former && client.input?.hasBytesAvailable == true })
    case .removedFromDefault:
      client.converse()
      for stream in client.streams { stream.remove(from: .main, forMode: .default) }
      let former = client.events.count
      measure(meanwhile: { client.feed() }, holds: { client.events.count == former })
    case .withoutDelegate:
      client.converse()
      for stream in client.streams { stream.delegate = nil }
      measure(meanwhile: { client.feed() })
    case .unread:
      client.converse()
      client.reads = false
      measure(meanwhile: { client.feed() }, holds: { client.events.last == .hasBytesAvailable })
    case .privateMode:
      client.open(mode: ownMode)
      client.feed()
      client.run(mode: ownMode) { client.bytes > 0 }
      let former = client.events.count
      measure(meanwhile: { client.feed() }, holds: { client.events.count == former })
    case .anotherCommonMode:
      CFRunLoopAddCommonMode(CFRunLoopGetMain(), CFStringCreateWithCString(nil, ownMode.rawValue, 0x0800_0100))
      client.converse(mode: .default)
      let former = client.events.count
      measure(meanwhile: { client.feed() }, holds: { client.events.count == former })
      while true { _ = RunLoop.main.run(mode: ownMode, before: .distantFuture) }
    case .privateModeThenMainQueue:
      client.converse()
      let former = client.bytes
      RunLoop.main.add(Timer(timeInterval: 0.01, repeats: true) { _ in client.feed() }, forMode: ownMode)
      for _ in 0..<5 { _ = RunLoop.main.run(mode: ownMode, before: Date(timeIntervalSinceNow: 0.05)) }
      measure(holds: { client.bytes > former })
      dispatchMain()
    case .mainQueue:
      client.converse()
      let former = client.bytes
      client.feed()
      usleep(50_000)
      measure(holds: { client.bytes > former })
      dispatchMain()
    }
    RunLoop.main.run()
    fail("the run loop has ended")
  }

  private var ownMode: RunLoop.Mode { RunLoop.Mode("client.mode") }
}
