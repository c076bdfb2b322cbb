// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// The driver of accessories whose protocol a file describes, under the protocol's name.
  public init(_ description: ProtocolDescription) {
    self.init(
      name: description.name, summary: description.summary, commands: description.commands,
      polls: description.accessoryPolls,
      freshness: description.messages.contains(where: \.isPushed)
        ? .nanoseconds(description.plan.expiry ?? 10_000_000_000) : nil,
      frames: {
        (DescribedFrameReader(description) as (any FrameReader)?) ?? DescribedFrameReader.none(description.name)
      }
    ) { session, profile, clock throws(AccessoryError) in
      try await DescribedAccessory.open(session, description, clock: clock)
    }
  }
}

extension DescribedAccessory {
  /// Carries out requests of the description, one after another. Throws `permissionDenied` for one that changes something
  /// in the accessory, and then nothing is sent.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    var requests: [(index: Int, arguments: [String: Int])] = []
    for call in calls {
      guard let index = description.request(named: call.command.name) else {
        throw AccessoryError(.unsupported, "\(description.name) accessories have no command \(call.command.name)")
      }
      let request = description.requests[index]
      if request.isWrite {
        throw AccessoryError(
          .permissionDenied, "\(request.name) changes something in \(label), and writes to it aren't allowed")
      }
      requests.append(
        (index, Dictionary(uniqueKeysWithValues: request.arguments.map { ($0.name, $0.raw(call)) })))
    }
    var replies: [CommandReply] = []
    for (call, request) in zip(calls, requests) {
      let reply = try await ask(request.index, request.arguments)
      let values = description.results(of: description.requests[request.index]).map {
        reply?[$0.name]?.value ?? .nothing
      }
      replies.append(CommandReply(call.command, values))
    }
    return replies
  }
}
