// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import FamilyAF1
import Glibc

/// An AF1 accessory behind a `bridge`, and a client of that: the benchmark is both.
///
/// By frames, the bridge decodes each frame on a queue of its own, and gives each request a number of its own; by bytes it passes on
/// what it gets.
final class SharedFrames {
  let name: String
  private let program: SharingProcess
  private let device: SharedTerminal
  private let client: CInt
  private var codec = AF1Codec(maximumPayload: 4_096)
  private var batch = FrameBatch<AF1Header>()
  private var buffer = [UInt8](repeating: 0, count: 4_096)
  private var number: UInt16 = 0

  init(_ peers: SharingPeers, by unit: String) throws {
    device = try SharedTerminal()
    name = "by \(unit)"
    program = try peers.ours(device.path, "--tcp", ["--driver", "framed", "--by", unit])
    client = try program.connect()
    // The bridge has opened the terminal, and has made contact, by then.
    for _ in 0..<20 { _ = try echo() }
  }

  func stop() {
    close(client)
    program.stop()
  }

  /// µs of the median of `count` requests and their replies, 16 bytes of payload each.
  func measure(_ count: Int) throws -> Double {
    var times: [Double] = []
    for _ in 0..<count { times.append(try echo() / 1e3) }
    return times.median
  }

  /// Nanoseconds from a request to its reply.
  private func echo() throws -> Double {
    number &+= 1
    var request: [UInt8] = []
    try codec.encode(.request(.echo, number: number), payload: [UInt8](repeating: 0x55, count: 16), into: &request)
    let start = Bytes.now()
    try write(request, to: client)
    // HELLO comes first, once.
    while try !answer() {}
    try Bytes.receive(request.count, from: client)
    return Bytes.now() - start
  }

  /// Answers what the accessory is asked next. Returns whether that was an echo.
  private func answer() throws -> Bool {
    batch.removeAll()
    while batch.count == 0 {
      var waiting = pollfd(fd: device.master, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 10_000) == 1 else { throw Failure("no request came") }
      let count = read(device.master, &buffer, buffer.count)
      guard count > 0 else { throw Failure("the terminal ended") }
      codec.decode(buffer.span.bytes.extracting(0..<count), into: &batch)
    }
    var wasEcho = false
    for index in 0..<batch.count {
      let header = batch.header(at: index)
      var payload = batch.payloadBytes(at: index)
      wasEcho = header.command != .hello
      if !wasEcho {
        payload = []
        AF1HelloReply(bootID: 7, largestPayload: 4_096, window: 1).encode(into: &payload)
      }
      var reply: [UInt8] = []
      try codec.encode(.reply(to: header), payload: payload, into: &reply)
      try write(reply, to: device.master)
    }
    return wasEcho
  }

  private func write(_ bytes: [UInt8], to descriptor: CInt) throws {
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw Failure("a frame can't be written") }
  }
}
