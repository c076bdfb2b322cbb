// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The number of an L2CAP channel.
public typealias CBL2CAPPSM = UInt16

/// An L2CAP channel. None can be opened on Linux yet: `didOpen` reports `CBError.operationNotSupported`.
///
/// `@unchecked Sendable`: it stores nothing that changes, and none is ever created.
open class CBL2CAPChannel: NSObject, @unchecked Sendable {
  /// The number of the channel.
  public let psm: CBL2CAPPSM
  private let other: CBPeer?

  init(_ psm: CBL2CAPPSM, _ peer: CBPeer?) { (self.psm, other) = (psm, peer) }

  /// The device at the other end.
  open var peer: CBPeer! { other }
  /// The bytes that arrive.
  open var inputStream: InputStream! { nil }
  /// The bytes to send.
  open var outputStream: OutputStream! { nil }
}
