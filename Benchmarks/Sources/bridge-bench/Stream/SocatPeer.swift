// SPDX-License-Identifier: Apache-2.0

import CFloor
import Glibc

/// `socat` copying what a terminal gives to /dev/null: what many a shell script does with a serial port.
enum SocatPeer {
  private static let path = "/usr/bin/socat"

  static var isInstalled: Bool { access(path, X_OK) == 0 }

  /// Starts socat on the terminal at `path`, waits until it copies, runs `body`, and returns the nanoseconds from there
  /// until socat has copied `total` bytes and ended.
  static func copy(_ total: Int, from terminal: String, _ body: () throws -> Void) throws -> Int64 {
    let arguments = [
      "socat", "-d", "-d", "-u", "OPEN:\(terminal),raw,echo=0,readbytes=\(total)", "OPEN:/dev/null,wronly",
    ]
    var notes: CInt = -1
    let process = withArguments(arguments) { cfloor_spawn_noting(path, $0, &notes) }
    try Failure.check(process, "starting socat")
    defer { close(notes) }
    do {
      try waitForStart(notes)
      let start = cfloor_now()
      try body()
      var status: CInt = 0
      try Failure.check(cfloor_wait(process, &status), "waiting for socat")
      let end = cfloor_now()
      guard status == 0 else { throw Failure("socat ended with status \(status)") }
      return end - start
    } catch {
      cfloor_end(process)
      throw error
    }
  }

  private static func waitForStart(_ notes: CInt) throws(Failure) {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while !text.contains("starting data transfer loop") {
      var waiting = pollfd(fd: notes, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 10_000) == 1 else { throw Failure("socat does not start") }
      let count = read(notes, &buffer, buffer.count)
      guard count > 0 else { throw Failure("socat does not start: \(text)") }
      text += String(decoding: buffer[..<count], as: UTF8.self)
    }
  }
}
