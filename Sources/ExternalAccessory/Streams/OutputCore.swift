// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Foundation

/// The implementation of an accessory's output stream. Unlike a `Stream` it can be used on any thread.
///
/// Bytes go directly to the transport's queue, which reports exactly whether it has space.
final class OutputCore: StreamBytes {
  /// The most bytes of one write, which bounds the queue.
  private static let writeLimit = 65_536

  /// Notifies the delegate.
  let notifier = StreamNotifier()
  private let output: OutputQueue

  /// The core of a stream into `output`. It is the queue's only producer. The owner calls `finish` when the transport
  /// accepts no more bytes.
  init(_ output: OutputQueue) {
    self.output = output
    notifier.serve(self)
    output.onSpace { [weak notifier] in notifier?.oweReady() }
  }

  /// Queues up to 64 KiB of `bytes` and returns their number: 0 when there is no space, -1 when the stream isn't open
  /// or the accessory is gone.
  func write(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    guard notifier.isOpen else { return -1 }
    let piece = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).prefix(Self.writeLimit))
    switch output.offer(piece.bytes) {
    case .accepted:
      if output.requestSpace() { notifier.oweReady() }
      return piece.count
    case .full: return 0
    case .closed: return -1
    }
  }

  /// Whether a write would be accepted.
  var hasSpaceAvailable: Bool { notifier.isOpen && output.hasSpaceAvailable }

  // MARK: - StreamBytes

  var readyEvent: Stream.Event { .hasSpaceAvailable }

  func isReady() -> Bool { output.requestSpace() }

  func wasTold() -> Bool { false }

  func wasClosed() {}
}
