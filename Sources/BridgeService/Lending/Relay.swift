// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// Copies bytes between two transports in both directions, as fast as the slower side accepts them.
enum Relay {
  /// Returns when one side has ended and its last bytes were passed on. The result is true if that was the device.
  /// Closes neither transport.
  static func run(_ device: any Transport, _ client: any Transport) async -> Bool {
    let (ends, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingOldest(1))
    let pumps = [(device, client, true), (client, device, false)].map { from, to, isDevices in
      Task {
        switch await Pump(from.input, to.output).run() {
        case .input: _ = continuation.yield(isDevices)
        case .output: _ = continuation.yield(!isDevices)
        case .cancelled: _ = continuation.yield(false)
        }
      }
    }
    var isGone = false
    for await first in ends {
      isGone = first
      break
    }
    for pump in pumps { pump.cancel() }
    for pump in pumps { await pump.value }
    return isGone
  }
}

/// Copies bytes in one direction.
private struct Pump {
  /// Why the copying has ended.
  enum End {
    case input, output, cancelled
  }

  private let input: InputQueue
  private let output: OutputQueue
  private let signals: AsyncStream<Void>

  init(_ input: InputQueue, _ output: OutputQueue) {
    self.input = input
    self.output = output
    let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    output.onSpace { continuation.yield() }
    output.onClosed { _ in continuation.finish() }
    input.onReadable { continuation.yield() }
  }

  /// Returns when the input has ended and all of it is written, when the output is closed, or when the task is
  /// cancelled.
  func run() async -> End {
    var bytes: [UInt8] = []
    var messages: [Int] = []
    var pieces: [ArraySlice<UInt8>] = []
    for await _ in signals {
      taking: while true {
        while let piece = pieces.first {
          switch output.offer(piece.span.bytes) {
          case .accepted: pieces.removeFirst()
          case .full: break taking
          case .closed: return .output
          }
        }
        switch input.take(into: &bytes, messages: &messages) {
        case .nothing: break taking
        case .end: return .input
        case .bytes: pieces = Self.split(bytes, messages)
        }
      }
      if Task.isCancelled { return .cancelled }
    }
    return Task.isCancelled ? .cancelled : .output
  }

  /// Splits the bytes into messages, if the transport preserves message boundaries.
  private static func split(_ bytes: [UInt8], _ messages: [Int]) -> [ArraySlice<UInt8>] {
    guard !messages.isEmpty else { return [bytes[...]] }
    var rest = bytes[...]
    return messages.map { count in
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
  }
}
