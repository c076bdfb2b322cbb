// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// A session with an accessory: a stream of received bytes, and one of bytes to send.
///
/// The bytes are passed on unchanged. Take the streams, set their delegates, schedule them in a run loop and open them,
/// in any order. The streams may outlive the session. The accessory is free for other programs when both streams are
/// closed. A stream is closed when it is released; so releasing a session also frees the accessory, if nothing else
/// retains its streams. Delegates and run loops don't retain a stream.
public final class EASession: NSObject, Sendable {
  /// The accessory.
  public let accessory: EAAccessory?
  /// The protocol for which the accessory was opened.
  public let protocolString: String?
  private let streams: SessionStreams

  /// The stream of bytes from the accessory.
  public var inputStream: InputStream? { streams.input }

  /// The stream of bytes to the accessory.
  public var outputStream: OutputStream? { streams.output }

  private init(_ accessory: EAAccessory, _ channel: SessionChannel) {
    self.accessory = accessory
    protocolString = channel.protocolString
    streams = SessionStreams(channel)
  }

  /// Opens the accessory, and waits until it is open: a few milliseconds, longer for an accessory that must settle.
  ///
  /// An accessory in which raw bytes may change something can't be opened with this initialiser; use
  /// `open(_:forProtocol:writes:)`.
  ///
  /// Nil when the accessory is gone, doesn't have the protocol, is open for another protocol, is in use by another
  /// program or can't be opened; and when the program's Info.plist lists protocols
  /// (`UISupportedExternalAccessoryProtocols`) without this one. The reason is logged by `NSLog`, and
  /// `open(_:forProtocol:writes:)` throws it. An open session for the same accessory and protocol is closed first.
  public convenience init?(accessory: EAAccessory, forProtocol protocolString: String) {
    do throws(AccessoryError) {
      self.init(accessory, try Self.channel(accessory, protocolString))
    } catch {
      // A percent sign would be read as a format; the device's name may hold one, and control characters.
      let reason = SafeText.escape(error.message, limit: 1_000).replacing("%", with: "%%")
      NSLog("EASession(accessory:forProtocol:) is nil: \(reason)")
      return nil
    }
  }

  /// Opens the accessory like the initialiser, and throws the reason where that fails. Only on Linux.
  ///
  /// Unless the driver says that raw bytes are harmless, the accessory is opened only with `writes`, and only if its
  /// profile allows them.
  ///
  /// Throws `disconnected`; `unsupported` when the accessory doesn't have the protocol, `misconfigured` when Info.plist
  /// doesn't list it; `busy`, `permissionDenied`, `notFound`, `timedOut`.
  public static func open(
    _ accessory: EAAccessory, forProtocol protocolString: String, writes: Bool = false
  ) throws(AccessoryError) -> EASession {
    EASession(accessory, try channel(accessory, protocolString, writes: writes))
  }

  private static func channel(
    _ accessory: EAAccessory, _ protocolString: String, writes: Bool = false
  ) throws(AccessoryError) -> SessionChannel {
    // The list is checked only if the program has one. On Linux most programs have no Info.plist.
    if let listed = EAAccessoryManager.listedProtocols, !listed.contains(protocolString) {
      throw AccessoryError(
        .misconfigured, "\(protocolString) is not among UISupportedExternalAccessoryProtocols of Info.plist")
    }
    return try accessory.port.open(protocolString, writes: writes)
  }
}

/// The two stream objects of a session.
///
/// They retain the channel until they are closed; the session doesn't retain it.
///
/// `@unchecked Sendable`: the references never change, and all members of the streams may be used from any thread.
private struct SessionStreams: @unchecked Sendable {
  let input: AccessoryInputStream
  let output: AccessoryOutputStream

  init(_ channel: SessionChannel) {
    input = AccessoryInputStream(channel.input) { channel.streamClosed() }
    output = AccessoryOutputStream(channel.output) { channel.streamClosed() }
  }
}
