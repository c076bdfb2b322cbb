// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// A session with an accessory: a stream of received bytes and one of sent bytes.
///
/// The bytes are passed on unchanged. Take the streams, set their delegates, schedule them in a run loop and open them,
/// in any order. The streams may be kept longer than the session, and go on. The accessory is free for others when both
/// streams are closed. A stream is closed when it is released. So the accessory is free, too, when a session is
/// released whose streams nobody else retains. Neither a delegate nor a run loop keeps a stream.
public final class EASession: NSObject, Sendable {
  /// The accessory.
  public let accessory: EAAccessory?
  /// What it was opened for.
  public let protocolString: String?
  private let streams: SessionStreams

  /// What arrives from the accessory.
  public var inputStream: InputStream? { streams.input }

  /// What is sent to the accessory.
  public var outputStream: OutputStream? { streams.output }

  private init(_ accessory: EAAccessory, _ channel: SessionChannel) {
    self.accessory = accessory
    protocolString = channel.protocolString
    streams = SessionStreams(channel)
  }

  /// Opens the accessory, and waits until that is done: a few milliseconds, longer for an accessory that must settle.
  ///
  /// An accessory whose protocol has commands that change something in it isn't opened by this: `open` can.
  ///
  /// Nil when the accessory is gone, doesn't have the protocol, is open for another one, is in somebody else's hands or
  /// can't be opened; and when the program's Info.plist lists protocols (`UISupportedExternalAccessoryProtocols`) and
  /// this is not among them. `open(_:forProtocol:)` says which of these it is. A session that is open for the same
  /// accessory and protocol is closed first.
  public convenience init?(accessory: EAAccessory, forProtocol protocolString: String) {
    guard let channel = try? Self.channel(accessory, protocolString) else { return nil }
    self.init(accessory, channel)
  }

  /// Opens the accessory as the initialiser does, and says why where it can't. Only on Linux.
  ///
  /// Bytes may be a command that changes something in the accessory: where its protocol has such commands, it is opened only
  /// with `writes`, and if its profile allows them.
  ///
  /// Throws `disconnected`; `unsupported` when the accessory doesn't have the protocol, `misconfigured` when Info.plist
  /// doesn't; `busy`, `permissionDenied`, `notFound`, `timedOut`.
  public static func open(
    _ accessory: EAAccessory, forProtocol protocolString: String, writes: Bool = false
  ) throws(AccessoryError) -> EASession {
    EASession(accessory, try channel(accessory, protocolString, writes: writes))
  }

  private static func channel(
    _ accessory: EAAccessory, _ protocolString: String, writes: Bool = false
  ) throws(AccessoryError) -> SessionChannel {
    // The list counts only if the program has one; on Linux most programs have no Info.plist.
    if let listed = Bundle.main.object(forInfoDictionaryKey: "UISupportedExternalAccessoryProtocols") as? [String],
      !listed.contains(protocolString)
    {
      throw AccessoryError(
        .misconfigured, "\(protocolString) is not among UISupportedExternalAccessoryProtocols of Info.plist")
    }
    return try accessory.port.open(protocolString, writes: writes)
  }
}

/// The two stream objects of a session.
///
/// They keep the channel until they are closed; the session doesn't.
///
/// `@unchecked Sendable`: the references don't change, and all that the streams do is safe on any thread.
private struct SessionStreams: @unchecked Sendable {
  let input: AccessoryInputStream
  let output: AccessoryOutputStream

  init(_ channel: SessionChannel) {
    input = AccessoryInputStream(channel.input) { channel.streamClosed() }
    output = AccessoryOutputStream(channel.output) { channel.streamClosed() }
  }
}
