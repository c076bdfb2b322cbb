// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import CommandOutput

/// The services that run: their versions, their sockets, their clients, and their accessories. No accessory is opened.
struct ShownService {
  /// The path of the socket of the only service to show; nil for the user's and the system's.
  let socket: String?
  let json: Bool

  private static let replyTimeout = Duration.seconds(5)

  func show() async throws {
    let places = socket.map { [$0] } ?? ServicePlace.all()
    var (shownCount, failure): (Int, AccessoryError?) = (0, nil)
    for place in places {
      do throws(AccessoryError) {
        let client = try await BridgeClient.connect(to: place, replyTimeout: Self.replyTimeout)
        show(try await client.service(), try await client.list(), place, isFirst: shownCount == 0)
        shownCount += 1
      } catch {
        // At some of the usual sockets there may be no service.
        if !error.isNoService || failure == nil { failure = error }
      }
    }
    guard shownCount == 0 || failure.map({ !$0.isNoService }) == true else { return }
    guard let failure, !failure.isNoService || socket != nil else { throw AccessoryError.noService }
    throw failure
  }

  private func show(
    _ service: Bridge.GetService.Reply, _ accessories: [Bridge.Accessory], _ place: String, isFirst: Bool
  ) {
    if json { return Output.json(ServiceDocument(service, accessories)) }
    if !isFirst { Output.line("") }
    Table.facts(ServiceView.facts(service, place: place), columns: Output.columns).forEach(Output.line)
    let table = ServiceView.table(accessories, columns: Output.columns)
    if !table.isEmpty { Output.line("") }
    table.forEach(Output.line)
  }
}
