// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The input stream of a session, as Foundation's classes want it.
///
/// All members may be used from any thread; the base class is not used at all.
final class AccessoryInputStream: InputStream, StreamDelegate {
  private let core: InputCore

  init(_ core: InputCore, onClose: @escaping @Sendable () -> Void) {
    self.core = core
    super.init(data: Data())
    core.notifier.attach(self, onClose: onClose)
  }

  deinit { core.notifier.close() }

  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    core.read(into: buffer, limit: length)
  }

  override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
  ) -> Bool { false }

  override var hasBytesAvailable: Bool { core.hasBytesAvailable }

  // MARK: - As every stream

  override weak var delegate: (any StreamDelegate)? {
    get { core.notifier.delegate ?? self }
    set { core.notifier.delegate = newValue === self ? nil : newValue }
  }

  /// A stream is its own delegate until it has another. It has nothing to tell itself: events wait for the other.
  func stream(_ stream: Stream, handle event: Stream.Event) {}

  override func open() { core.notifier.open() }

  override func close() { core.notifier.close() }

  override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
    core.notifier.schedule(in: runLoop, forMode: mode)
  }

  override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
    core.notifier.remove(from: runLoop, forMode: mode)
  }

  override var streamStatus: Stream.Status { core.notifier.status }

  override var streamError: (any Error)? { core.notifier.end?.error.map { NSError($0) } }

  override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

  override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
