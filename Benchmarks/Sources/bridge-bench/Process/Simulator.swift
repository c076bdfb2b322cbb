// SPDX-License-Identifier: Apache-2.0

import CFloor
import Glibc

/// A running `bridge-cli simulate framed`, the only accessory that the commands of this process find.
struct Simulator {
  private let process: pid_t
  private let output: CInt
  private let directory: String

  init(_ cli: String) throws(Failure) {
    var template = Array("/tmp/bridge-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure("no temporary directory can be made") }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    setenv("XDG_RUNTIME_DIR", directory, 1)
    var output: CInt = -1
    let process = withArguments([cli, "simulate", "framed", "--json"]) { cfloor_spawn(cli, $0, &output) }
    try Failure.check(process, "starting \(cli)")
    (self.process, self.output) = (process, output)
    // Its first line says that it is plugged in.
    var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    var byte: UInt8 = 0
    guard poll(&waiting, 1, 10_000) == 1, read(output, &byte, 1) == 1 else {
      stop()
      throw Failure("\(cli) simulate framed does not start")
    }
  }

  func stop() {
    cfloor_end(process)
    close(output)
    for path in ["/accessory-bridge/simulated", "/accessory-bridge", ""] { remove(directory: directory + path) }
  }

  private func remove(directory path: String) {
    if let entries = opendir(path) {
      while let entry = readdir(entries) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        unlink("\(path)/\(name)")
      }
      closedir(entries)
    }
    rmdir(path)
  }
}
