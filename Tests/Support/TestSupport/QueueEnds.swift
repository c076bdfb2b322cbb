// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The consumer of an input queue, for tests: takes only when asked to.
public actor InputReader {
  /// All bytes to the end, and what the end was.
  public struct Ending: Sendable, Equatable {
    /// What came before the end and was not read.
    public var bytes: [UInt8]
    /// Why it ended; nil for a close by the owner.
    public var error: AccessoryError?

    /// An ending of these parts.
    public init(bytes: [UInt8] = [], error: AccessoryError?) {
      self.bytes = bytes
      self.error = error
    }
  }

  private let input: InputQueue
  /// How often the queue said that there is something to take.
  public nonisolated let notifications = Watched(0)
  private var buffer: [UInt8] = []

  /// Becomes the consumer of `input`.
  public init(_ input: InputQueue) {
    self.input = input
    input.onReadable { [notifications] in notifications.update { $0 += 1 } }
  }

  /// Waits for `count` bytes. Throws `Hang` when the queue ends before.
  public func read(_ count: Int) async throws -> [UInt8] {
    while buffer.count < count {
      if case .end(let error) = try await takeMore() {
        throw Hang("\(count) bytes: there were \(buffer.count) and then the end, \(error.map(\.description) ?? "nil")")
      }
    }
    defer { buffer.removeFirst(count) }
    return Array(buffer.prefix(count))
  }

  /// Waits for the end.
  public func readToEnd() async throws -> Ending {
    while true {
      if case .end(let error) = try await takeMore() {
        defer { buffer = [] }
        return Ending(bytes: buffer, error: error)
      }
    }
  }

  private func takeMore() async throws -> InputQueue.TakeResult {
    var chunk: [UInt8] = []
    while true {
      let seen = notifications.value
      let taken = input.take(into: &chunk)
      buffer += chunk
      if taken != .nothing { return taken }
      try await notifications.wait { $0 > seen }
    }
  }
}

/// The producer of an output queue, for tests.
public struct OutputWriter: Sendable {
  private let output: OutputQueue
  /// How often the queue said that there is space again.
  public let notifications = Watched(0)

  /// Becomes the producer of `output`.
  public init(_ output: OutputQueue) {
    self.output = output
    output.onSpace { [notifications] in notifications.update { $0 += 1 } }
  }

  /// Queues all of `bytes`, piece by piece, waiting for space where it must. Throws when the queue closes.
  public func write(_ bytes: [UInt8], piece: Int = 4_096) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let seen = notifications.value
      switch output.offer(Array(rest.prefix(piece))) {
      case .accepted: rest = rest.dropFirst(piece)
      case .full: try await notifications.wait { $0 > seen }
      case .closed(let error): throw error ?? .closed("the output")
      }
    }
  }

  /// Offers pieces until one is refused; the number of bytes accepted.
  public func fill(_ next: (Int) -> [UInt8]) throws -> Int {
    var count = 0
    while true {
      let piece = next(count)
      switch output.offer(piece) {
      case .accepted: count += piece.count
      case .full: return count
      case .closed(let error): throw error ?? .closed("the output")
      }
    }
  }
}
