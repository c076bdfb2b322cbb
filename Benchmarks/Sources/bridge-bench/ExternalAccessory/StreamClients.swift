// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import CFloor
import ExternalAccessory
import FamilyAF1

/// What a client on the main run loop does until it is done.
class StreamClient: NSObject, StreamDelegate {
  private(set) var isDone = false
  private(set) var failure: Failure?

  func finish(_ failure: Failure? = nil) {
    isDone = true
    self.failure = self.failure ?? failure
  }

  func stream(_ stream: Stream, handle event: Stream.Event) {
    switch event {
    case .hasBytesAvailable: if let input = stream as? InputStream { read(input) }
    case .hasSpaceAvailable: if let output = stream as? OutputStream { write(output) }
    case .errorOccurred, .endEncountered: finish(Failure("the device is gone"))
    default: break
    }
  }

  func read(_ input: InputStream) {}
  func write(_ output: OutputStream) {}
}

/// AF1 ECHO requests and their replies, without the bytes' way.
struct EchoState {
  private let payload: [UInt8]
  private var codec = AF1Codec(maximumPayload: 4_096)
  private var batch = FrameBatch<AF1Header>()
  private var frame: [UInt8] = []
  private var number: UInt16 = 0
  private var start: Int64 = 0
  private(set) var isAnswered = true
  private(set) var times: [Int64] = []

  init(payload: [UInt8]) { self.payload = payload }

  mutating func nextRequest() -> [UInt8] {
    start = cfloor_now()
    isAnswered = false
    frame.removeAll(keepingCapacity: true)
    try? codec.encode(.request(.echo, number: number), payload: payload, into: &frame)
    return frame
  }

  mutating func take(_ bytes: RawSpan) throws(Failure) {
    codec.decode(bytes, into: &batch)
    defer { batch.removeAll() }
    for index in 0..<batch.count {
      guard batch.header(at: index).number == number, batch.payloadBytes(at: index) == payload else {
        throw Failure("the device echoed something else")
      }
      times.append(cfloor_now() - start)
      number &+= 1
      isAnswered = true
    }
  }
}

/// Asks again when it has the reply.
final class EchoDelegate: StreamClient {
  private var echo: EchoState
  private let count: Int
  private var output: OutputStream?
  private var buffer = [UInt8](repeating: 0, count: 4_096)

  var times: [Int64] { echo.times }

  init(payload: [UInt8], count: Int) {
    echo = EchoState(payload: payload)
    self.count = count
  }

  override func write(_ output: OutputStream) {
    guard self.output == nil else { return }
    self.output = output
    ask()
  }

  private func ask() {
    let frame = echo.nextRequest()
    if output?.write(frame, maxLength: frame.count) != frame.count { finish(Failure("writing failed")) }
  }

  override func read(_ input: InputStream) {
    let count = input.read(&buffer, maxLength: buffer.count)
    guard count > 0 else { return }
    do throws(Failure) { try echo.take(buffer.span.bytes.extracting(first: count)) } catch { return finish(error) }
    guard echo.isAnswered else { return }
    if echo.times.count < self.count { ask() } else { finish() }
  }
}

/// Reads all there is.
final class ReceivingDelegate: StreamClient {
  private let total: Int
  private(set) var received = 0
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  init(expecting total: Int) { self.total = total }

  override func read(_ input: InputStream) {
    while input.hasBytesAvailable {
      let count = input.read(&buffer, maxLength: buffer.count)
      guard count > 0 else { break }
      received += count
    }
    if received >= total { finish() }
  }
}

/// Writes while there is space, and waits for the device's word that it has everything.
final class SendingDelegate: StreamClient {
  private let bytes: [UInt8]
  private var left: Int

  init(total: Int, piece: Int) {
    bytes = [UInt8](repeating: 0x55, count: piece)
    left = total
  }

  override func write(_ output: OutputStream) {
    while left > 0 {
      let count = output.write(bytes, maxLength: min(left, bytes.count))
      guard count > 0 else { break }
      left -= count
    }
  }

  override func read(_ input: InputStream) {
    var byte: UInt8 = 0
    if input.read(&byte, maxLength: 1) == 1 { finish() }
  }
}
