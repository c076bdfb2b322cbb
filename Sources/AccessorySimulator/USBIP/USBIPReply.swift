// SPDX-License-Identifier: Apache-2.0

/// How a transfer ended: the kernel's error numbers, negative.
enum USBStatus: Int32, Sendable, Hashable {
  /// All right.
  case done = 0
  /// The endpoint is halted, or the request unknown (-EPIPE).
  case stall = -32
  /// A packet was damaged or not answered (-EPROTO).
  case protocolError = -71
  /// More data than there was room for (-EOVERFLOW).
  case overflow = -75
  /// Taken back by the kernel (-ECONNRESET).
  case cancelled = -104
  /// Less data than was required (-EREMOTEIO).
  case short = -121
}

/// What a device answers a kernel over USB/IP.
enum USBIPReply: Sendable, Hashable {
  /// Transfer `sequence` ended, after `count` bytes; `data` are those that go to the host.
  case submit(sequence: UInt32, status: USBStatus, count: Int, data: [UInt8] = [])
  /// The request `sequence` to forget a transfer: `cancelled` when that was done, `done` when it was too late.
  case unlink(sequence: UInt32, status: USBStatus)

  /// Appends the reply as it goes to the kernel.
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
