// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// An accessory whose protocol a file describes.
///
/// `battery`, `status`, `identify` and `values` ask what the description's plan says, and only those of its requests whose
/// replies have something of it. What the accessory sends by itself is remembered, and is unknown again when it stops.
public final class DescribedAccessory: LinkedAccessory {
  /// The link, for what goes beyond this driver.
  public let link: Link<DescribedExchange>
  /// What is known of its protocol.
  public let description: ProtocolDescription

  let picture: SharedPicture
  let clock: any TimerClock
  let writer: RequestWriter
  /// Remembers what the accessory sends by itself.
  private let follower: Task<Void, Never>?

  private init(_ link: Link<DescribedExchange>, _ description: ProtocolDescription, clock: any TimerClock) {
    self.link = link
    self.description = description
    self.clock = clock
    writer = RequestWriter(link.exchange.codec)
    let picture = SharedPicture(description)
    self.picture = picture
    guard description.messages.contains(where: \.isPushed) else {
      follower = nil
      return
    }
    let events = link.events()
    follower = Task {
      do throws(AccessoryError) {
        var iterator = events.makeAsyncIterator()
        while let message = try await iterator.next() { picture.take(message, at: clock.bootTime, isFirst: true) }
      } catch {
        // The link is down: whoever asks is told by it.
      }
    }
  }

  deinit { follower?.cancel() }

  /// Makes contact with the accessory at the other end of `session`, which belongs to it from now on and is closed if that
  /// fails: wakes it, makes the requests that the plan begins with, and sees whether it is of this kind, all if the
  /// description says so.
  ///
  /// Throws `timedOut` when nobody answers, `unsupported` when the answer isn't that of an accessory of this kind,
  /// `disconnected`, `refused`, `misconfigured` when there can be no such frames.
  public static func open(
    _ session: AccessorySession, _ description: ProtocolDescription, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> DescribedAccessory {
    let rules = try DescribedExchange(description, label: session.label, wire: description.wire(of: session))
    let link = try await Link.open(session, rules: rules, clock: clock)
    let accessory = DescribedAccessory(link, description, clock: clock)
    let failure: AccessoryError
    do throws(AccessoryError) {
      try await accessory.begin()
      return accessory
    } catch {
      failure = error
    }
    await link.close()
    throw failure
  }

  private func begin() async throws(AccessoryError) {
    for request in description.plan.start { _ = try await ask(request) }
    guard let identify = description.plan.identify else { return }
    let reply = try await ask(identify)
    for (name, expected) in description.plan.expected.sorted(by: { $0.key < $1.key }) {
      let value = reply?[name]?.value ?? .nothing
      guard value.asExampleText == expected else {
        throw AccessoryError(
          .unsupported,
          "\(label) doesn't answer as \(description.name) accessories do: \(name) is \(SafeText.escape(value.asExampleText)), "
            + "not \(expected)")
      }
    }
  }

  /// Makes a request, with raw numbers as its arguments, and remembers what is answered.
  @discardableResult
  func ask(_ request: Int, _ arguments: [String: Int] = [:]) async throws(AccessoryError) -> DecodedMessage? {
    let request = try DescribedRequest(request, arguments, of: description, by: writer)
    let reply = try await link.request(request)
    if let reply { picture.take(reply, at: clock.bootTime, isFirst: true) }
    return reply
  }

  /// Closes the link; returns when the device is free for others.
  public func close() async {
    follower?.cancel()
    await link.close()
  }
}

extension ProtocolDescription {
  /// How frames travel in a session where they are Modbus: with the header of Modbus TCP where there is a network and no
  /// line behind it.
  func wire(of session: AccessorySession) -> ModbusWire {
    let isNetwork = session.transport.peer != nil && session.transport.line == nil
    return isNetwork && modbus?.isSerialOverNetwork == false ? .network : .serial
  }
}
