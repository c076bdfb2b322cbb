// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

// What a module does as a central: it scans, and connects to what it has found.

extension HM10Module {
  /// Makes it a central that waits for commands and tells of connections, and lets scans tell names and strengths. It
  /// keeps that when it is switched off. Returns whether it had to be made a central, which takes a restart.
  ///
  /// Throws what `ask` throws; `refused` when it doesn't become one.
  @discardableResult
  public func becomeCentral() async throws(AccessoryError) -> Bool {
    let isCentral = try await role() == .central
    let waits = try await value(of: .immediate) == 1
    if !isCentral || !waits {
      if !isCentral { try await set(.role, to: HM10Role.central.rawValue) }
      if !waits { try await set(.immediate, to: 1) }
      try await ask(.reset)
      guard try await role() == .central else {
        throw AccessoryError(.refused, "\(label) doesn't become a central: some modules never do")
      }
    }
    if try await value(of: .notify) != 1 { try await set(.notify, to: 1) }
    try await showAll()
    return !isCentral
  }

  /// Lets scans tell names and strengths, or what it can of that: V539 knows 0 and 1 only, older ones nothing.
  private func showAll() async throws(AccessoryError) {
    do throws(AccessoryError) {
      if try await value(of: .show) == 3 { return }
      try await set(.show, to: 3)
    } catch {
      guard [.timedOut, .refused, .badData].contains(error.kind) else { throw error }
      try? await set(.show, to: 1)
    }
  }

  /// Scans once, as long as the module does that, and gives what it found. `events` tells each device as it is found.
  ///
  /// Throws what `ask` throws, and `refused` when the module is a peripheral, which says nothing to that.
  public func scan(for command: HM10Command = .discover) async throws(AccessoryError) -> HM10Scan {
    let answer: HM10Answer
    do throws(AccessoryError) {
      answer = try await link.request(.command(command))
    } catch {
      guard error.kind == .timedOut, await isPeripheral() else { throw error }
      throw AccessoryError(
        .refused,
        "\(label) is a peripheral, which doesn't scan: set its role to central and immediate to yes, and reset it")
    }
    guard case .scan(let scan) = answer else { throw AccessoryError(.misconfigured, "that is no scan") }
    return scan
  }

  /// Whether it says so.
  private func isPeripheral() async -> Bool {
    guard let role = try? await role() else { return false }
    return role == .peripheral
  }

  /// Connects to a device. Throws what `ask` throws.
  public func connect(to address: BluetoothAddress, isDual: Bool = false) async throws(AccessoryError) {
    try await ask(.connect(address, isDual: isDual))
  }

  /// Connects to one of the first six devices that the last scan found, 0…5. Throws what `ask` throws.
  public func connect(toIndex index: Int) async throws(AccessoryError) { try await ask(.connectIndex(index)) }

  /// Ends the connection. Without one it does nothing. Throws what `ask` throws.
  public func disconnect() async throws(AccessoryError) { try await ask(.attention) }

  /// Sends bytes to the other side of the connection; returns when they are on their way. A message of just `AT` would
  /// end the connection.
  ///
  /// Throws `disconnected` when there is no connection.
  public func send(_ bytes: [UInt8]) async throws(AccessoryError) { _ = try await link.request(.data(bytes)) }

  /// What it tells by itself from now on, data of the other side included. Throws the link's error when the module goes,
  /// and ends normally when it is closed here. Who is 256 events behind loses the oldest.
  public func events() -> EventStream<HM10Event> { link.events() }
}
