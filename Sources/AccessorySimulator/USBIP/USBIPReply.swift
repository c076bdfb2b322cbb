// SPDX-License-Identifier: Apache-2.0

/// How a transfer ended, as the kernel's negative error number.
enum USBStatus: Int32, Sendable, Hashable {
  /// The transfer succeeded.
  case done = 0
  /// The endpoint is halted, or the request isn't supported (-EPIPE).
  case stall = -32
  /// A packet was damaged, or wasn't acknowledged (-EPROTO).
  case protocolError = -71
  /// There was more data than room (-EOVERFLOW).
  case overflow = -75
  /// The kernel has cancelled the transfer (-ECONNRESET).
  case cancelled = -104
  /// There was less data than required (-EREMOTEIO).
  case short = -121
}

/// A device's reply to a kernel, over USB/IP.
enum USBIPReply: Sendable, Hashable {
  /// Transfer `sequence` has ended after `count` bytes. `data` are the bytes for the host.
  case submit(sequence: UInt32, status: USBStatus, count: Int, data: [UInt8] = [])
  /// The answer to the unlink request `sequence`: `cancelled` if the transfer was cancelled, `done` if it had ended before.
  case unlink(sequence: UInt32, status: USBStatus)

  /// Appends the encoded reply.
  func encode(into bytes: inout [UInt8]) {
    switch self {
    case .submit(let sequence, let status, let count, let data):
      Self.append([3, sequence, 0, 0, 0, UInt32(bitPattern: status.rawValue), UInt32(count), 0, 0, 0], to: &bytes)
      bytes.append(contentsOf: repeatElement(0, count: 8))
      bytes.append(contentsOf: data)
    case .unlink(let sequence, let status):
      Self.append([4, sequence, 0, 0, 0, UInt32(bitPattern: status.rawValue)], to: &bytes)
      bytes.append(contentsOf: repeatElement(0, count: 24))
    }
  }

  private static func append(_ words: [UInt32], to bytes: inout [UInt8]) {
    for word in words { withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) } }
  }
}
