// SPDX-License-Identifier: Apache-2.0

import CFloor
import Glibc

/// A program that shares a terminal, in a process of its own.
final class SharingProcess {
  /// Where programs find the terminal: a TCP port, or a path.
  enum Place {
    case port(UInt16)
    case terminal(String)
  }

  let name: String
  let process: pid_t
  let place: Place
  private let output: CInt

  init(_ name: String, _ path: String, _ arguments: [String], at place: Place) throws(Failure) {
    var output: CInt = -1
    (self.name, self.place) = (name, place)
    process = withArguments([path] + arguments) { cfloor_spawn(path, $0, &output) }
    self.output = output
    try Failure.check(process, "starting \(path)")
  }

  func stop() {
    cfloor_end(process)
    close(output)
  }

  /// Connects to it, within ten seconds of its start.
  func connect() throws(Failure) -> CInt {
    for _ in 0..<1_000 {
      switch place {
      case .port(let port): if let descriptor = Self.connect(port) { return descriptor }
      case .terminal(let path): if access(path, F_OK) == 0 { return try SharedTerminal.open(path) }
      }
      usleep(10_000)
    }
    throw Failure("\(name) does not start")
  }

  /// Nanoseconds that its threads have run.
  var processorTime: Double {
    byThread("schedstat") { $0.split(separator: " ").first.flatMap { Double($0) } }.values.reduce(0, +)
  }

  /// How often each of its threads has waited, which is how often it was woken.
  var waits: [String: Double] {
    byThread("status") { text in
      let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return line?.split { $0 == " " || $0 == "\t" }.last.flatMap { Double($0) }
    }
  }

  /// Anonymous memory, KiB.
  var memory: Double {
    let line = Machine.read("/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line?.split(separator: " ").dropLast().last.flatMap { Double($0.filter(\.isNumber)) } ?? 0
  }

  private func byThread(_ file: String, _ read: (String) -> Double?) -> [String: Double] {
    let tasks = "/proc/\(process)/task"
    guard let directory = opendir(tasks) else { return [:] }
    defer { closedir(directory) }
    var figures: [String: Double] = [:]
    while let entry = readdir(directory) {
      let thread = withUnsafeBytes(of: entry.pointee.d_name) { name in
        String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !thread.hasPrefix(".") { figures[thread] = read(Machine.read("\(tasks)/\(thread)/\(file)")) ?? 0 }
    }
    return figures
  }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  static func connect(_ port: UInt16) -> CInt? {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var address = address(port)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      close(descriptor)
      return nil
    }
    var one: CInt = 1
    setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    return descriptor
  }

  /// A port that is free now.
  static func freePort() throws(Failure) -> UInt16 {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    try Failure.check(descriptor, "making a socket")
    defer { close(descriptor) }
    var address = address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, size) == 0 ? getsockname(descriptor, pointer, &size) : -1
      }
    }
    try Failure.check(result, "finding a free port")
    return UInt16(bigEndian: address.sin_port)
  }
}

/// The programs that are compared.
struct SharingPeers {
  private let cli: String
  private let directory: String
  static let socat = "/usr/bin/socat"
  static let ser2net = "/usr/sbin/ser2net"

  init(_ cli: String) throws(Failure) {
    var template = Array("/tmp/bridge-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure("no temporary directory can be made") }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self.cli = cli
    // No service of this machine answers for the terminals.
    setenv("XDG_RUNTIME_DIR", directory, 1)
  }

  func ours(_ terminal: String, _ option: String, _ more: [String] = []) throws(Failure) -> SharingProcess {
    let port = try SharingProcess.freePort()
    return try SharingProcess(
      "bridge-cli", cli,
      ["bridge", terminal, option, "\(port)", "--max-clients", "1000", "--slow-reader", "wait"] + more,
      at: .port(port))
  }

  func oursToTerminal(_ terminal: String) throws(Failure) -> SharingProcess {
    let path = "\(directory)/ours"
    return try SharingProcess(
      "bridge-cli", cli, ["bridge", terminal, "--pty", path, "--slow-reader", "wait"], at: .terminal(path))
  }

  func socat(_ terminal: String) throws(Failure) -> SharingProcess? {
    guard access(Self.socat, X_OK) == 0 else { return nil }
    let port = try SharingProcess.freePort()
    return try SharingProcess(
      "socat", Self.socat, ["TCP-LISTEN:\(port),bind=127.0.0.1,reuseaddr,nodelay", "OPEN:\(terminal),rawer"],
      at: .port(port))
  }

  func socatToTerminal(_ terminal: String) throws(Failure) -> SharingProcess? {
    guard access(Self.socat, X_OK) == 0 else { return nil }
    let path = "\(directory)/socat"
    return try SharingProcess(
      "socat", Self.socat, ["PTY,link=\(path),rawer", "OPEN:\(terminal),rawer"], at: .terminal(path))
  }

  /// `stack` is the accepter's: "tcp" or "telnet(rfc2217),tcp".
  func ser2net(_ terminal: String, _ stack: String) throws(Failure) -> SharingProcess? {
    guard access(Self.ser2net, X_OK) == 0 else { return nil }
    let port = try SharingProcess.freePort()
    let path = "\(directory)/ser2net-\(port).yaml"
    let text = """
      connection: &shared
        accepter: \(stack),localhost,\(port)
        connector: serialdev,\(terminal),115200n81,local
        options:
          max-connections: 200

      """
    guard let file = fopen(path, "we") else { throw Failure("\(path) can't be written") }
    fputs(text, file)
    fclose(file)
    return try SharingProcess("ser2net", Self.ser2net, ["-n", "-u", "-c", path], at: .port(port))
  }
}
