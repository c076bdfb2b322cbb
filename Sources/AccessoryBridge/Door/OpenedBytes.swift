// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessoryLink

/// An accessory's bytes, for a person at a console: borrowed from the service that has it open, opened by this program, or only
/// received through a service's trace.
package struct OpenedBytes: Sendable {
  /// The accessory.
  package let device: Device
  /// The bytes that the accessory sends.
  package let received: ReceivedBytes
  /// The open accessory; nil if a service only traces it.
  package let session: AccessorySession?
  /// The control socket of the service that lends or traces the accessory; nil if this program has opened it.
  package let servicePath: String?
  /// Why nothing may be sent to the accessory, and what to do about that; nil if sending is allowed.
  package let refusal: AccessoryError?
}

/// The bytes that an accessory sends, piece by piece, for one consumer.
package struct ReceivedBytes: AsyncSequence, Sendable {
  /// A piece of the received bytes.
  package typealias Element = [UInt8]
  /// The type of the errors.
  package typealias Failure = AccessoryError

  fileprivate enum Source: Sendable {
    case session(AccessorySession)
    case trace(BridgeStream<Bridge.Trace>)
  }

  private let source: Source

  init(_ session: AccessorySession) { source = .session(session) }
  init(_ trace: BridgeStream<Bridge.Trace>) { source = .trace(trace) }

  /// Starts to receive.
  package func makeAsyncIterator() -> Iterator {
    switch source {
    case .session(let session): Iterator(source: .session(session.input.makeAsyncIterator()))
    case .trace(let trace): Iterator(source: .trace(trace.makeAsyncIterator()))
    }
  }

  /// The iterator over the pieces.
  package struct Iterator: AsyncIteratorProtocol {
    fileprivate enum Source {
      case session(ByteStream.Iterator)
      case trace(BridgeStream<Bridge.Trace>.Iterator)
    }

    fileprivate var source: Source

    /// The next bytes; nil at the end.
    package mutating func next() async throws(AccessoryError) -> [UInt8]? { try await next(isolation: nil) }

    /// The next bytes; nil at the end.
    package mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> [UInt8]? {
      switch source {
      case .session(var input):
        let bytes = try await input.next(isolation: actor)
        source = .session(input)
        return bytes
      case .trace(var pieces):
        while let piece = try await pieces.next(isolation: actor) {
          source = .trace(pieces)
          guard piece.direction == ByteDirection.fromDevice.rawValue, let bytes = piece.bytes, !bytes.isEmpty else {
            continue
          }
          return bytes
        }
        return nil
      }
    }
  }
}
