// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A client of RFC 2217 that sets the speed again and again.
final class PortClient {
  private let descriptor: CInt
  private var buffer = [UInt8](repeating: 0, count: 4_096)
  private var isFast = false

  /// Agrees with the server to speak of the port.
  init(_ descriptor: CInt) throws(Failure) {
    self.descriptor = descriptor
    // WILL COM-PORT-OPTION
    let will: [UInt8] = [0xFF, 0xFB, 0x2C]
    guard write(descriptor, will, will.count) == will.count else { throw Failure("the server has gone") }
    // DO COM-PORT-OPTION, somewhere among what else is said.
    try wait { $0.firstRange(of: [0xFF, 0xFD, 0x2C]) != nil }
    usleep(200_000)
  }

  deinit { close(descriptor) }

  private func wait(_ isThere: ([UInt8]) -> Bool) throws(Failure) {
    var seen: [UInt8] = []
    while !isThere(seen) {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 10_000) == 1 else { throw Failure("the server does not answer") }
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { throw Failure("the server has gone") }
      seen += buffer[..<count]
    }
  }

  /// The median of `count` times in µs.
  func measure(_ count: Int) throws -> Double {
    var times: [Double] = []
    for _ in 0..<count {
      isFast.toggle()
      // 19,200 or 9,600: none of their bytes is FF.
      let rate: [UInt8] = isFast ? [0, 0, 0x4B, 0] : [0, 0, 0x25, 0x80]
      let question: [UInt8] = [0xFF, 0xFA, 0x2C, 1] + rate + [0xFF, 0xF0]
      let answer: [UInt8] = [0xFF, 0xFA, 0x2C, 101] + rate + [0xFF, 0xF0]
      let start = Bytes.now()
      guard write(descriptor, question, question.count) == question.count else { throw Failure("the server has gone") }
      try wait { $0.firstRange(of: answer) != nil }
      times.append((Bytes.now() - start) / 1e3)
    }
    return times.median
  }
}
