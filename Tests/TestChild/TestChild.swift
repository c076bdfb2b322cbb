// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CLinuxShims
import Glibc

/// The other process of tests that need one: does as its arguments say, reports in lines, ends with its input.
@main
enum TestChild {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    let path = arguments.dropFirst().first ?? ""
    switch arguments.first {
    case "lock": hold(path) { shim_flock($0, LOCK_EX | LOCK_NB) }
    case "exclusive": hold(path) { shim_tiocexcl($0) }
    case "open": await open(path)
    case "open-as-nobody":
      becomeNobody()
      await open(path)
    case "signals": await signals()
    default: exit(64)
    }
  }

  private static func report(_ line: String) {
    print(line)
    fflush(nil)
  }

  private static func waitForEndOfInput() { while readLine() != nil {} }

  /// What a program does that has never heard of us.
  private static func hold(_ path: String, _ take: (CInt) -> CInt) {
    let descriptor = Glibc.open(path, O_RDWR | O_NOCTTY)
    guard descriptor >= 0, take(descriptor) == 0 else { return report("failed: \(errno)") }
    report("holds")
    waitForEndOfInput()
  }

  private static func open(_ path: String) async {
    do throws(AccessoryError) {
      let transport = try await DescriptorTransport.open(TerminalConfiguration(path: path))
      report("open")
      waitForEndOfInput()
      await transport.close()
      report("closed")
    } catch {
      report("\(error.kind.rawValue): \(error.message)")
    }
  }

  private static func becomeNobody() {
    guard setgroups(0, nil) == 0, setgid(65_534) == 0, setuid(65_534) == 0 else {
      return report("failed: \(errno)")
    }
  }

  private static let selfSent = [SIGTERM, SIGHUP]

  /// Sends itself two signals that would end it, and reports them as they come.
  private static func signals() async {
    let (stream, continuation) = AsyncStream.makeStream(of: CInt.self)
    do {
      _ = try Signals(selfSent) { continuation.yield($0) }
    } catch {
      return report("failed: \(error)")
    }
    var iterator = stream.makeAsyncIterator()
    let isReady = AsyncStream.makeStream(of: Void.self)
    IOThread.shared.post { isReady.continuation.finish() }
    for await _ in isReady.stream {}
    for number in selfSent {
      kill(getpid(), number)
      report("\(await iterator.next() ?? -1)")
    }
  }
}
