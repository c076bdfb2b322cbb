// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessorySharing

/// Clients that stop reading, and what ends meanwhile.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct StuckClientTests {
  private func hub(
    _ kind: HubClientKind = .local, _ change: (inout SharingRules) -> Void = { _ in }
  ) async -> (hub: SharingHub, device: MemoryTransport, client: MemoryTransport, end: Watched<[AccessoryError?]>) {
    var rules = SharingRules()
    rules.bufferSize = 4_096
    change(&rules)
    let hub = SharingHub(rules, io: .shared, clock: ManualClock())
    let (device, client) = (MemoryTransport(label: "lamp"), MemoryTransport(label: "stuck"))
    let end = Watched<[AccessoryError?]>([])
    await hub.attach(device) { error in end.update { $0.append(error) } }
    await hub.join(client, name: "stuck", kind: kind)
    client.stall()
    return (hub, device, client, end)
  }

  /// Has the device send until its only reader, which is stuck, holds it back.
  private func fill(_ device: MemoryTransport) async {
    for _ in 0..<400 {
      device.receive([UInt8](repeating: 1, count: 4_096))
      await settle()
      if device.isPaused { return }
    }
    Issue.record("nothing holds the device back")
  }

  private func settle() async {
    for _ in 0..<4 { await withCheckedContinuation { c in IOThread.shared.post { c.resume() } } }
  }

  @Test(arguments: [HubClientKind.local, .rfc2217]) func aDeviceThatIsHeldBackEnds(kind: HubClientKind) async throws {
    let (hub, device, _, end) = await hub(kind)
    await fill(device)
    device.unplug()
    #expect(try await end.wait { !$0.isEmpty }.first??.kind == .disconnected)
    await hub.close()
  }

  @Test(arguments: [HubClientKind.local, .rfc2217]) func aStuckClientThatIsGoneIsForgotten(kind: HubClientKind)
    async throws
  {
    let (hub, device, client, _) = await hub(kind)
    await fill(device)
    client.unplug()
    while await hub.clientCount > 0 { await settle() }
    let other = MemoryTransport(label: "other")
    await hub.join(other, name: "other", kind: .local)
    device.receive([7])
    await settle()
    #expect(other.written.last == 7)
    await hub.close()
  }

  /// The service reads the device, too: no client may hold it back.
  @Test func whereOthersReadTheDeviceTheOnlyClientIsDisconnected() async throws {
    let (hub, device, _, _) = await hub { $0.waitsForOnlyReader = false }
    for _ in 0..<100 {
      device.receive([UInt8](repeating: 1, count: 4_096))
      await settle()
    }
    #expect(await hub.clientCount == 0)
    await hub.close()
  }

  /// FLOWCONTROL-SUSPEND holds the data back; FLOWCONTROL-RESUME comes through all the same.
  @Test func aSuspendedClientResumes() async throws {
    let (hub, device, client, _) = await hub(.rfc2217)
    client.unstall()
    client.receive(Telnet.optionCommand(.will, 44))
    client.receive(COMPortMessage.suspend.bytes(fromServer: false))
    await fill(device)
    let before = client.written.count
    client.receive(COMPortMessage.resume.bytes(fromServer: false))
    _ = try await client.nextWritten(before + 4_096)
    await hub.close()
  }
}
