// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import CommandOutput
import Glibc
import SystemPackage

/// A capture for Wireshark, in a file or on standard output. Calls must not overlap, because each one writes its bytes
/// without a lock.
final class CaptureFile: Sendable {
  private let descriptor: CInt
  private let path: String
  private let capture = Locked((packets: PacketCapture(), hasBegun: false, isBroken: false))

  /// Whether the capture goes to standard output, so that nothing else may be printed there.
  var isOutput: Bool { descriptor == STDOUT_FILENO }

  /// Creates the file, or replaces an older capture; `-` is standard output. Throws `misconfigured` when `path` is a file
  /// that isn't a capture, and the errors of open(2).
  init(_ path: String) throws(AccessoryError) {
    self.path = path
    guard path != "-" else {
      descriptor = STDOUT_FILENO
      return
    }
    Glibc.signal(SIGXFSZ, SIG_IGN)
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "opening \(path)") }
    self.descriptor = descriptor
    var file = stat()
    // Only a regular file with contents could lose something, a pipe can't.
    guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG, file.st_size > 0 else { return }
    var start: [UInt8] = [0, 0, 0, 0]
    guard pread(descriptor, &start, 4, 0) == 4, start == [0x0A, 0x0D, 0x0D, 0x0A], ftruncate(descriptor, 0) == 0 else {
      Glibc.close(descriptor)
      throw AccessoryError(
        .misconfigured, code: .errno(EEXIST), "\(path) exists and is not a capture: choose another file")
    }
  }

  /// Begins a trace. `began` is the moment of its time 0, in seconds since 1970, UTC; nil if unknown. Throws `ioFailure`
  /// when writing fails.
  func begin(name: String, framing: TraceFraming, began: Double?) throws(AccessoryError) {
    let began = Duration.milliseconds(Int64(((began ?? 0) * 1_000).rounded()))
    let bytes = capture.withLock { capture in
      defer { capture.hasBegun = true }
      return (capture.hasBegun ? [] : Self.header) + capture.packets.begin(name: name, framing: framing, began: began)
    }
    try write(bytes)
  }

  /// Adds a record. Throws `ioFailure` when writing fails.
  func add(_ record: TraceRecord) throws(AccessoryError) { try write(capture.withLock { $0.packets.packets(record) }) }

  /// Adds an unplug (`isThere` is false) or the return of the accessory. Throws `ioFailure` when writing fails.
  func plug(_ isThere: Bool, at time: Duration) throws(AccessoryError) {
    try write(capture.withLock { $0.packets.plug(isThere, at: time) })
  }

  private static var header: [UInt8] { PacketCapture.header(program: "\(BridgeCLI.name) \(BridgeCLI.version)") }

  private func write(_ bytes: [UInt8]) throws(AccessoryError) {
    var rest = bytes[...]
    while !rest.isEmpty, !capture.withLock({ $0.isBroken }) {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EPIPE, isOutput {
        // The reader of standard output has ended, and that ends the command.
        capture.withLock { $0.isBroken = true }
      } else if errno != EINTR {
        capture.withLock { $0.isBroken = true }
        throw failure(Errno(rawValue: errno))
      }
    }
  }

  private func failure(_ error: Errno) -> AccessoryError {
    AccessoryError(.ioFailure, code: .errno(error.rawValue), "can't write to \(path): \(error); the capture ends here")
  }

  /// Closes the file. Throws `ioFailure` when the system reports only now that earlier bytes weren't written.
  func close() throws(AccessoryError) {
    if capture.withLock({ !$0.hasBegun }) { try write(Self.header) }
    guard !isOutput else { return }
    guard Glibc.close(descriptor) == 0 || errno == EINTR else { throw failure(Errno(rawValue: errno)) }
  }
}
