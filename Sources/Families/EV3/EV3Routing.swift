// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

/// Routes the EV3's messages, and replaces the clients' message counters. Only one command at a time is unanswered, because a new
/// direct command ends the running one. All clients share the brick's file handles; a file that a client leaves open stays open.
struct EV3Routing: RoutedProtocol {
  var rules: EV3Exchange
  let needsContact = false
  /// Nothing in the byte stream marks where a message begins. So after this silence the next byte begins a new message.
  let halfFramePatience: Duration? = .seconds(1)
  let newMemory: Void = ()

  init(label: String, options: EV3Exchange.Options) {
    var options = options
    // The brick replies to a direct command when it has run, and only the client knows how long that may take.
    options.timeout = max(options.timeout, .seconds(10))
    rules = EV3Exchange(label: label, options: options)
    rules.phase = .ready
  }

  func makeCodec() -> LengthPrefixedCodec { EV3Limits.codec }

  func window(for request: EV3Request) -> Int { rules.options.pacing.window }

  func read(_ batch: FrameBatch<LengthPrefix>, at index: Int, allowsWrites: Bool) -> ClientFrame<EV3Request> {
    let message: EV3Message
    do throws(EV3MessageError) {
      message = try EV3Message(decoding: batch.payloadBytes(at: index))
    } catch {
      return .refuse("it sent what is no message of an EV3", answer: nil)
    }
    guard message.type.wantsReply || message.type == .directCommandNoReply || message.type == .systemCommandNoReply,
      3 + message.body.count <= EV3Limits.messageBehindLength
    else { return .refuse("it sent a message that is no command for an EV3", answer: nil) }
    return .ask(EV3Request(message.type, body: message.body), number: message.number)
  }

  /// Always false: clients don't repeat commands, so two equal commands are two requests.
  func isRepeat(_ one: RoutedRequest<EV3Request>, of other: RoutedRequest<EV3Request>) -> Bool { false }

  mutating func message(_ request: EV3Request) -> [UInt8] { [] }

  func reply(
    to request: RoutedRequest<EV3Request>, _ result: Result<EV3Message?, AccessoryError>,
    frame: (batch: FrameBatch<LengthPrefix>, index: Int)?
  ) -> [UInt8]? {
    guard request.request.type.wantsReply, let frame else { return nil }
    switch result {
    case .success: break
    // The brick has refused the command. The client gets the brick's reply.
    case .failure(let error) where error.kind == .refused || error.kind == .badData: break
    case .failure: return nil
    }
    do throws(EV3MessageError) {
      var message = try EV3Message(decoding: frame.batch.payloadBytes(at: frame.index))
      message.number = request.number
      return try message.encoded()
    } catch {
      return nil
    }
  }
}

extension FrameRouting {
  /// Routes the EV3's messages, with one unanswered command at a time. The timeout of a command is 10 s, or that of `options` if it is
  /// longer.
  public static func ev3(label: String, options: EV3Exchange.Options = EV3Exchange.Options()) -> FrameRouting {
    FrameRouting(EV3Routing(label: label, options: options))
  }
}
