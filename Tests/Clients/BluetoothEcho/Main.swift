// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

/// BluetoothEcho ADDRESS ROUNDS BYTES: echoes of 20 bytes and BYTES written at once, by this project's transport in one process, as
/// Tests/Lab/Bluetooth/beside/plain.c does both in C.
@main enum Program {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 4, let address = BluetoothAddress(words[1]), let rounds = Int(words[2]), rounds > 0,
      let count = Int(words[3])
    else { return print("usage: BluetoothEcho ADDRESS ROUNDS BYTES") }
    let begin = ContinuousClock.now
    let port = Port(try await GATTTransport.open(address))
    try await port.exchange([UInt8](repeating: 0x61, count: 20), for: 20)
    let connected = ContinuousClock.now - begin
    let times = try await port.echoes(rounds).sorted()
    print(
      "ours: connect \(text(connected, of: .seconds(1))) s, \(rounds) echoes of 20 bytes, "
        + "median \(text(times[rounds / 2], of: .milliseconds(1))) ms, "
        + "p95 \(text(times[rounds * 95 / 100], of: .milliseconds(1))) ms")
    if count > 0 {
      try await port.exchange(Array("last \(count)\n".utf8), for: 2)
      let begin = ContinuousClock.now
      try await port.exchange([UInt8](repeating: 0x55, count: count), for: 3)
      let time = ContinuousClock.now - begin
      let rate = Double(count) / (time / .seconds(1)) / 1_000
      print("ours: \(count) bytes in \(text(time, of: .seconds(1))) s: \(rounded(rate, 10)) kB/s")
    }
    await port.transport.close()
  }

  private static func text(_ time: Duration, of unit: Duration) -> String { "\(rounded(time / unit, 100))" }
  private static func rounded(_ number: Double, _ steps: Double) -> Double { (number * steps).rounded() / steps }
}

/// A serial port whose answers are counted where they arrive, on the I/O thread.
final class Port: Sendable {
  let transport: GATTTransport
  private let state = Locked(State())

  private struct State {
    /// How many bytes are still awaited, of this round and of each.
    var left = 0
    var size = 0
    /// How many rounds follow, and what each of them sends.
    var rounds = 0
    var packet: [UInt8] = []
    var start = ContinuousClock.now
    var times: [Duration] = []
    /// What isn't accepted yet.
    var waiting: ArraySlice<UInt8> = []
    var done: CheckedContinuation<[Duration], any Error>?
  }

  init(_ transport: GATTTransport) {
    self.transport = transport
    transport.output.onSpace { [weak self] in self?.pump() }
    transport.input.onReadable { [weak self] in self?.read() }
  }

  /// Sends bytes, and waits for so many.
  func exchange(_ bytes: [UInt8], for count: Int) async throws { _ = try await run(bytes, count, rounds: 1) }

  /// Sends 20 bytes so often, each time when the last ones are back, and returns how long that took each time.
  func echoes(_ rounds: Int) async throws -> [Duration] {
    try await run([UInt8](repeating: 0x62, count: 20), 20, rounds: rounds)
  }

  private func run(_ bytes: [UInt8], _ count: Int, rounds: Int) async throws -> [Duration] {
    try await withCheckedThrowingContinuation { done in
      state.withLock { state in
        (state.left, state.size, state.rounds, state.packet) = (count, count, rounds - 1, bytes)
        (state.times, state.waiting, state.done) = ([], bytes[...], done)
        state.start = .now
      }
      pump()
    }
  }

  private func pump() {
    while transport.output.requestSpace() {
      let piece = state.withLock { state -> [UInt8] in
        defer { state.waiting = state.waiting.dropFirst(8_192) }
        return Array(state.waiting.prefix(8_192))
      }
      guard !piece.isEmpty, case .accepted = transport.output.offer(piece) else { return }
    }
  }

  private func read() {
    var bytes: [UInt8] = []
    while true {
      switch transport.input.take(into: &bytes) {
      case .nothing: return
      case .end(let error):
        return state.withLock { state in
          state.done?.resume(throwing: error ?? .disconnected("the module"))
          state.done = nil
        }
      case .bytes: if take(bytes.count) { pump() }
      }
    }
  }

  /// Counts bytes. Returns whether the next round begins.
  private func take(_ count: Int) -> Bool {
    state.withLock { state in
      state.left -= count
      guard state.left <= 0, let done = state.done else { return false }
      let now = ContinuousClock.now
      state.times.append(now - state.start)
      guard state.rounds > 0 else {
        state.done = nil
        done.resume(returning: state.times)
        return false
      }
      state.rounds -= 1
      (state.left, state.waiting, state.start) = (state.size, state.packet[...], now)
      return true
    }
  }
}
