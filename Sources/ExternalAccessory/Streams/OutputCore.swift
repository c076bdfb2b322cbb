// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Foundation

/// The implementation of an accessory's output stream. Unlike a `Stream` it can be used on any thread.
///
/// Bytes go straight to the transport's queue, which says truly whether there is space.
final class OutputCore: StreamBytes {
  /// Bytes that one write takes at most, so that what waits stays bounded.
  private static let writeLimit = 65_536

  /// Tells the delegate.
  let notifier = StreamNotifier()
  private let output: OutputQueue

  /// The core of a stream into `output`, whose one producer it is. Its owner calls `finish` when it takes no more.
  init(_ output: OutputQueue) {
    self.output = output
    notifier.serve(self)
    output.onSpace { [weak notifier] in notifier?.oweReady() }
  }

  /// Queues up to 64 KiB of `bytes`: 0 when there is no space, -1 when the stream isn't open or the accessory is gone.
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

  /// True when a write would be taken.
  var hasSpaceAvailable: Bool { notifier.isOpen && output.hasSpaceAvailable }

  // MARK: - For the notifier

  var readyEvent: Stream.Event { .hasSpaceAvailable }

  func isReady() -> Bool { output.requestSpace() }

  func wasTold() -> Bool { false }

  func wasClosed() {}
}
