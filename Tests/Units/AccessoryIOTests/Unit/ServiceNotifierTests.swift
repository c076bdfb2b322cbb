// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryIO

/// What a manager's socket gets.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct ServiceNotifierTests {
  /// The manager's end: a real socket.
  private final class Manager: Sendable {
    let descriptor: FileDescriptor

    /// At a path, or at a name after an `@`.
    init(_ address: String) throws {
      descriptor = try UnixSocket.create(.datagram, blocking: true)
      if address.hasPrefix("@") {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: [0] + Array(address.utf8.dropFirst())) }
        let count = socklen_t(MemoryLayout<sa_family_t>.size + address.utf8.count)
        let result = withUnsafePointer(to: &name) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor.rawValue, $0, count) }
        }
        guard result == 0 else { throw Errno(rawValue: errno) }
      } else {
        try UnixSocket.bind(descriptor, to: address)
      }
      var limit = timeval(tv_sec: 20, tv_usec: 0)
      setsockopt(descriptor.rawValue, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { Socket.close(descriptor) }

    /// The next message; waits for it unless told otherwise.
    func next(wait: Bool = true) -> String? {
      var bytes = [UInt8](repeating: 0, count: 8_192)
      let count = recv(descriptor.rawValue, &bytes, bytes.count, wait ? 0 : CInt(MSG_DONTWAIT))
      return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// All that is there.
    func rest() -> [String] {
      var messages: [String] = []
      while let message = next(wait: false) { messages.append(message) }
      return messages
    }
  }

  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/notify" }

  init() throws { directory = try TemporaryDirectory() }

  private func notifier(_ variables: [String: String], io: IOThread = .shared) -> ServiceNotifier {
    ServiceNotifier(io: io) { variables[$0] }
  }

  @Test func everyStateIsReportedInTheManagersWords() async throws {
    let manager = try Manager(path)
    let notifier = notifier(["NOTIFY_SOCKET": path])
    #expect(notifier.isWanted && notifier.watchdogInterval == nil)
    await notifier.report(.ready, .status("serving 2 accessories"), .watchdog, .stopping)
    #expect(manager.rest() == ["READY=1", "STATUS=serving 2 accessories", "WATCHDOG=1", "STOPPING=1"])
    let before = MonotonicTime.now
    await notifier.report(.reloading)
    let words = try #require(manager.next()).split(separator: "\n")
    let prefix = "MONOTONIC_USEC="
    #expect(words.count == 2 && words[0] == "RELOADING=1" && words[1].hasPrefix(prefix))
    let time = try #require(Int64(words[1].dropFirst(prefix.count)))
    #expect(time >= before.nanoseconds / 1_000 && time <= MonotonicTime.now.nanoseconds / 1_000)
  }

  @Test func anAbstractAddressIsNotified() async throws {
    let address = "@accessory-bridge-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let manager = try Manager(address)
    await notifier(["NOTIFY_SOCKET": address]).report(.ready)
    #expect(manager.next() == "READY=1")
  }

  /// Text of a device can't say that the service is ready, or give the manager another process to watch.
  @Test func aHostileStatusIsEscapedAndCut() async throws {
    let manager = try Manager(path)
    let notifier = notifier(["NOTIFY_SOCKET": path])
    await notifier.report(.status("a\nMAINPID=1\r\nREADY=1\0\u{1B}[31m\u{202E}b\u{2028}ü"))
    let message = try #require(manager.next())
    #expect(message == #"STATUS=a\u{a}MAINPID=1\u{d}\u{a}READY=1\u{0}\u{1b}[31m\u{202e}b\u{2028}ü"#)
    for long in [String(repeating: "\u{10FFFF}", count: 100_000), "e" + String(repeating: "\u{301}", count: 100_000)] {
      await notifier.report(.status(long))
      let message = try #require(manager.next())
      #expect(message.utf8.count < 4_096 && message.hasSuffix("…"))
    }
  }

  @Test(
    arguments: [
      [:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "@"], ["NOTIFY_SOCKET": "vsock:2:9999"], ["NOTIFY_SOCKET": "x/y"],
    ] as [[String: String]])
  func withoutASocketNobodyIsNotified(variables: [String: String]) async {
    let notifier = notifier(variables.merging(["WATCHDOG_USEC": "1000"]) { first, _ in first })
    #expect(!notifier.isWanted && notifier.watchdogInterval == nil)
    await notifier.startWatchdog()
    await notifier.report(.ready, .stopping)
  }

  /// Nobody listens there, or no longer; who does again is told again.
  @Test func aReturningManagerIsToldAgain() async throws {
    let notifier = notifier(["NOTIFY_SOCKET": path])
    await notifier.report(.ready)
    do {
      let manager = try Manager(path)
      await notifier.report(.status("one"))
      #expect(manager.rest() == ["STATUS=one"])
    }
    await notifier.report(.status("two"))
    #expect(unlink(path) == 0)
    await notifier.report(.status("three"))
    let manager = try Manager(path)
    await notifier.report(.status("four"))
    #expect(manager.rest() == ["STATUS=four"])
    let tooLong = self.notifier(["NOTIFY_SOCKET": "/" + String(repeating: "a", count: 200)])
    await tooLong.report(.ready)
  }

  /// One that takes nothing for a while holds nobody up, and is told at last how things are.
  @Test func aBusyManagerIsToldTheLatestState() async throws {
    let manager = try Manager(path)
    let notifier = notifier(["NOTIFY_SOCKET": path])
    var told = 0
    repeat {
      told += 1
      await notifier.report(.status("\(told)"))
    } while await !notifier.isBehind && told < 100_000
    #expect(await notifier.isBehind)
    for _ in 1...50 {
      told += 1
      await notifier.report(.status("\(told)"), .watchdog)
    }
    await notifier.report(.stopping)
    let received = try await blocking {
      var received: [String] = []
      while received.last != "STOPPING=1" {
        guard let next = manager.next() else { throw Hang("the rest, after \(received.suffix(3))") }
        received.append(next)
      }
      return received
    }
    #expect(received.suffix(3) == ["STATUS=\(told)", "WATCHDOG=1", "STOPPING=1"])
    #expect(received.count < told)
    await notifier.report(.ready)
    #expect(manager.next() == "READY=1")
    #expect(await !notifier.isBehind)
  }

  // MARK: - Watchdog

  @Test(
    arguments: [
      (nil, nil, nil), ("3000000", nil, .milliseconds(1_500)), ("3000000", "mine", .milliseconds(1_500)),
      ("3000000", "1", nil), ("3000000", "", nil), ("0", nil, nil), ("1", nil, nil), ("-5", nil, nil),
      ("x", nil, nil), ("99999999999999999999999", nil, nil), ("2", nil, .microseconds(1)),
    ] as [(String?, String?, Duration?)])
  func theWatchdogsIntervalIsHalfItsTime(time: String?, process: String?, interval: Duration?) {
    var variables = ["NOTIFY_SOCKET": path]
    variables["WATCHDOG_USEC"] = time
    variables["WATCHDOG_PID"] = process == "mine" ? String(getpid()) : process
    #expect(notifier(variables).watchdogInterval == interval)
  }

  /// The signs of life come from the loop itself: one that is held up gives none.
  @Test func theLoopShowsThatItLives() async throws {
    let manager = try Manager(path)
    let io = IOThread(queue: try EpollQueue())
    defer { io.stop() }
    let notifier = notifier(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "20000"], io: io)
    await notifier.startWatchdog()
    await notifier.startWatchdog()
    for _ in 1...5 { #expect(try await blocking { manager.next() } == "WATCHDOG=1") }
    // Held up until five intervals of another clock have gone by, which is what the next sign would need.
    let (held, released) = (Watched(false), DispatchSemaphore(value: 0))
    io.post {
      held.update { $0 = true }
      released.wait()
    }
    try await held.wait { $0 }
    _ = manager.rest()
    for _ in 1...5 { await IOThread.shared.sleep(for: .milliseconds(10)) }
    #expect(manager.rest() == [])
    released.signal()
    #expect(try await blocking { manager.next() } == "WATCHDOG=1")
  }

  /// The signs of life come from where the work is done, too: while that is held up there is none.
  @Test func theWorkShowsThatItGoesOn() async throws {
    let manager = try Manager(path)
    let io = IOThread(queue: try EpollQueue())
    defer { io.stop() }
    let notifier = notifier(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "20000"], io: io)
    let (isHeld, proofs) = (Watched(false), Watched(0))
    await notifier.startWatchdog {
      proofs.update { $0 += 1 }
      _ = try? await isHeld.wait { !$0 }
    }
    for _ in 1...5 { #expect(try await blocking { manager.next() } == "WATCHDOG=1") }
    isHeld.update { $0 = true }
    let before = proofs.value
    try await proofs.wait { $0 > before }
    // The one that had begun before may have been told meanwhile.
    await IOThread.shared.sleep(for: .milliseconds(30))
    _ = manager.rest()
    let held = proofs.value
    for _ in 1...5 { await IOThread.shared.sleep(for: .milliseconds(10)) }
    #expect(manager.rest() == [])
    #expect(proofs.value == held, "no second one while the first has not returned")
    isHeld.update { $0 = false }
    #expect(try await blocking { manager.next() } == "WATCHDOG=1")
  }

  /// A notifier that nobody has any more shows nothing, and closes its socket.
  @Test func itEndsWithItsOwner() async throws {
    let manager = try Manager(path)
    let io = IOThread(queue: try EpollQueue())
    defer { io.stop() }
    weak var gone: ServiceNotifier?
    do {
      let notifier = notifier(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000000"], io: io)
      await notifier.startWatchdog()
      gone = notifier
    }
    try await eventually("the notifier to go") { gone == nil }
    // One at the start, and one more where the machine was so slow that it fell due.
    #expect(Set(manager.rest()) == ["WATCHDOG=1"])
    #expect(manager.rest() == [])
  }
}
