// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryExport
import AccessoryIO
import CLinuxShims
import Glibc
import TestSupport

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
    case "crowd":
      become(Array(arguments)[2])
      crowd(path, Int(Array(arguments)[3]) ?? 1)
    case "ask":
      become(Array(arguments)[2])
      await ask(path)
    case "signals": await signals()
    case "send-uevent": sendUevent(path, group: 2, times: arguments.count > 2 ? Int(Array(arguments)[2]) ?? 1 : 1)
    case "serve": await serve(path)
    case "announce": await announce(Array(arguments.dropFirst()))
    case "gadget":
      Gadget.run(path, Gadget.Manner(rawValue: Array(arguments).last ?? "") ?? .answering, report)
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

  /// Serves the tests' pretended bridge at `path`, or on the socket that was passed as systemd does it.
  private static func serve(_ path: String) async {
    do throws(AccessoryError) {
      guard let socket = path.isEmpty ? try ControlSockets.passed()?.bridge : try ControlSocket.make(at: path) else {
        return report("nothing was passed")
      }
      let server = try ControlServer(socket, handler: SampleBridge())
      report("serves \(server.path ?? "")")
      waitForEndOfInput()
      await server.close()
      report("closed")
    } catch {
      report("\(error.kind.rawValue): \(error.message)")
    }
  }

  /// Announces a service until it is ended: its name, its kind, its port, and what is told with it.
  private static func announce(_ words: [String]) async {
    guard words.count >= 3, let port = UInt16(words[2]) else { exit(64) }
    let service = AnnouncedService(name: words[0], type: words[1], port: port, text: Array(words[3...]))
    let announcement = ServiceAnnouncement(service)
    await announcement.start()
    for await state in announcement.states { report(state.text(service)) }
  }

  /// Connects to the server at `path` so many times, each time with a call that waits, and stays.
  private static func crowd(_ path: String, _ count: Int) {
    let call = Array(#"{"method":"accessorybridge.Bridge.Request","parameters":{"command":"wait"}}"#.utf8) + [0]
    var connections: [CInt] = []
    for _ in 0..<count {
      guard let descriptor = try? UnixSocket.create(blocking: true) else { return report("failed: \(errno)") }
      guard (try? UnixSocket.connect(descriptor, to: path)) != nil else { return report("failed: \(errno)") }
      // Who is turned away is closed.
      _ = try? Socket.send(call[...], to: descriptor)
      connections.append(descriptor.rawValue)
    }
    report("holds")
    waitForEndOfInput()
  }

  /// Asks the server at `path` what there is.
  private static func ask(_ path: String) async {
    do throws(AccessoryError) {
      let client = try await ControlClient.connect(to: path)
      do throws(ControlError) { _ = try await client.call(Bridge.List()) } catch { throw error.accessoryError }
      report("answered")
    } catch {
      report("\(error.kind.rawValue): \(error.message)")
    }
  }

  private static func becomeNobody() { become("65534") }

  /// Becomes another user, of the group that is nobody's.
  private static func become(_ user: String) {
    guard let user = uid_t(user) else { return report("failed: no user") }
    guard setgroups(0, nil) == 0, setgid(65_534) == 0, setuid(user) == 0 else {
      return report("failed: \(errno)")
    }
  }

  /// Sends a message, given in hexadecimal, to all who listen to a group of NETLINK_KOBJECT_UEVENT; 2 is udev's.
  private static func sendUevent(_ hexadecimal: String, group: UInt32, times: Int) {
    let digits = Array(hexadecimal)
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
    let descriptor = socket(AF_NETLINK, CInt(SOCK_RAW.rawValue), 15)  // NETLINK_KOBJECT_UEVENT of linux/netlink.h
    // struct sockaddr_nl: family, padding, port, groups.
    let address: [UInt32] = [UInt32(AF_NETLINK), 0, 1 << (group - 1)]
    var sent = 0
    for _ in 0..<times {
      let count = address.withUnsafeBytes { address in
        sendto(
          descriptor, bytes, bytes.count, 0, address.bindMemory(to: sockaddr.self).baseAddress, socklen_t(address.count)
        )
      }
      if count == bytes.count { sent += 1 }
    }
    report("sent \(sent) as \(getuid())")
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
