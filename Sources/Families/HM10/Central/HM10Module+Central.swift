// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

// The module as a central, which scans and connects.

extension HM10Module {
  /// Makes the module a central that waits for commands at its start, reports connections, and includes names and signal strengths in
  /// scans. The module stores these settings permanently. Returns whether it wasn't a central before and was restarted.
  ///
  /// Throws what `ask` throws, and `refused` when the module doesn't become a central.
  @discardableResult
  public func becomeCentral() async throws(AccessoryError) -> Bool {
    let isCentral = try await role() == .central
    let waits = try await value(of: .immediate) == 1
    if !isCentral || !waits {
      if !isCentral { try await set(.role, to: HM10Role.central.rawValue) }
      if !waits { try await set(.immediate, to: 1) }
      try await ask(.reset)
      guard try await role() == .central else {
        throw AccessoryError(.refused, "\(label) did not change to the role central: some modules can't")
      }
    }
    if try await value(of: .notify) != 1 { try await set(.notify, to: 1) }
    try await showAll()
    return !isCentral
  }

  /// Includes names and signal strengths in scans, as far as the module can: V539 accepts only 0 and 1, and older
  /// versions don't have the setting.
  private func showAll() async throws(AccessoryError) {
    do throws(AccessoryError) {
      if try await value(of: .show) == 3 { return }
      try await set(.show, to: 3)
    } catch {
      guard [.timedOut, .refused, .badData].contains(error.kind) else { throw error }
      try? await set(.show, to: 1)
    }
  }

  /// Makes one scan, which lasts as long as the module's setting says, and returns what it found. `events` has each
  /// device when it is found.
  ///
  /// Throws what `ask` throws, and `refused` when the module is a peripheral, which doesn't answer the command.
  public func scan(for command: HM10Command = .discover) async throws(AccessoryError) -> HM10Scan {
    let answer: HM10Answer
    do throws(AccessoryError) {
      answer = try await link.request(.command(command))
    } catch {
      guard error.kind == .timedOut, await isPeripheral() else { throw error }
      throw AccessoryError(
        .refused,
        "\(label) is a peripheral, which can't scan: set its role to central and immediate to yes, and reset it")
    }
    guard case .scan(let scan) = answer else { throw AccessoryError(.misconfigured, "the command is not a scan") }
    return scan
  }

  /// Whether the module reports that it is a peripheral.
  private func isPeripheral() async -> Bool {
    guard let role = try? await role() else { return false }
    return role == .peripheral
  }

  /// Connects to a device. Throws what `ask` throws.
  public func connect(to address: BluetoothAddress, isDual: Bool = false) async throws(AccessoryError) {
    try await ask(.connect(address, isDual: isDual))
  }

  /// Connects to one of the first six devices of the last scan, with index 0…5. Throws what `ask` throws.
  public func connect(toIndex index: Int) async throws(AccessoryError) { try await ask(.connectIndex(index)) }

  /// Ends the connection. Does nothing when there is none. Throws what `ask` throws.
  public func disconnect() async throws(AccessoryError) { try await ask(.attention) }

  /// Sends bytes to the connected device. Returns when they were written. A message that is exactly `AT` would end the connection.
  ///
  /// Throws `disconnected` when there is no connection.
  public func send(_ bytes: [UInt8]) async throws(AccessoryError) { _ = try await link.request(.data(bytes)) }

  /// The module's events from now on, including data of the connected device. The stream throws the link's error when the module
  /// goes, and ends normally when the link is closed. A subscriber that is 256 events behind loses the oldest.
  public func events() -> EventStream<HM10Event> { link.events() }
}
