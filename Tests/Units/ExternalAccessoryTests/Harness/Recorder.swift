// SPDX-License-Identifier: Apache-2.0

import ExternalAccessory
import Glibc
import TestSupport

/// What a stream's delegate was told, in order.
struct Told: Sendable, Equatable {
  var event: Stream.Event
  var isInput: Bool
  /// Whether it was told on the main queue.
  var isMain: Bool
}

/// Whether the caller is on the main queue. The main thread itself is no more in a test process: `dispatchMain` ends it.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }
}

/// A delegate that writes down what it is told, and reads when it is told to.
final class Recorder: NSObject, StreamDelegate, Sendable {
  /// What it was told.
  let told = Watched<[Told]>([])
  /// What it read.
  let bytes = Watched<[UInt8]>([])
  /// Bytes that it reads at each event; 0 for none.
  let readLimit: Int
  private let action: @Sendable (Stream, Stream.Event) -> Void

  /// A delegate that reads `readLimit` bytes at each event, and then does `action`.
  init(readLimit: Int = 65_536, action: @escaping @Sendable (Stream, Stream.Event) -> Void = { _, _ in }) {
    self.readLimit = readLimit
    self.action = action
  }

  func stream(_ stream: Stream, handle event: Stream.Event) {
    let isMain = MainQueue.isCurrent
    let isInput = stream is InputStream
    if event == .hasBytesAvailable, readLimit > 0, let input = stream as? InputStream {
      let read = input.read(readLimit)
      bytes.update { $0 += read }
    }
    action(stream, event)
    told.update { $0.append(Told(event: event, isInput: isInput, isMain: isMain)) }
  }

  /// The events of one of the streams.
  func events(ofInput isInput: Bool) -> [Stream.Event] { told.value.filter { $0.isInput == isInput }.map(\.event) }

  /// How often it was told this.
  func count(_ event: Stream.Event, ofInput isInput: Bool) -> Int {
    events(ofInput: isInput).count { $0 == event }
  }

  /// Waits until it has been told this, `count` times in all.
  func wait(for event: Stream.Event, ofInput isInput: Bool, count: Int = 1) async throws {
    try await told.wait { $0.count { $0.event == event && $0.isInput == isInput } >= count }
  }
}

extension InputStream {
  /// Reads once.
  func read(_ limit: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = max(0, read(buffer.baseAddress!, maxLength: limit))
    }
  }
}

extension OutputStream {
  /// Writes once.
  func write(_ bytes: [UInt8]) -> Int { write(bytes, maxLength: bytes.count) }
}
