// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

// Connecting and reconnecting.

extension HM10Central {
  /// Connects to a device that a search has found. Returns when the connection is made. Retries as the policy says.
  ///
  /// Throws `notFound`, `alreadyConnected`, `limitReached`, or `failed` with the error of the last attempt.
  public func connect(
    to address: BluetoothAddress, isDual: Bool = false
  ) async throws(HM10CentralError) {
    if connections[address] != nil { throw .alreadyConnected(address) }
    guard found[address] != nil else { throw .notFound(address) }
    let most = min(max(1, policy.mostConnections), max(1, radios.count))
    guard connections.count < most, let radio = freeRadio else { throw .limitReached(most) }
    let number = newNumber()
    connections[address] = Connection(radio: radio, isDual: isDual, number: number)
    var triesLeft = policy.retryConnect.tries
    while true {
      guard let error = await attempt(address, number) else { return made(address, isAgain: false) }
      guard connections[address]?.number == number, !Task.isCancelled, !deadRadios.contains(radio) else {
        end(address, number)
        throw .failed(error)
      }
      tell(.attemptFailed(address, error, triesLeft: triesLeft))
      if triesLeft > 0 { await clock.sleep(for: policy.retryConnect.interval) }
      guard triesLeft > 0, connections[address]?.number == number, !Task.isCancelled else {
        end(address, number)
        throw .failed(error)
      }
      triesLeft -= 1
    }
  }

  /// Makes one attempt. Returns its error, or nil when the connection is made.
  private func attempt(_ address: BluetoothAddress, _ number: Int) async -> AccessoryError? {
    guard let connection = connections[address], connection.number == number else {
      return AccessoryError(.cancelled, "connecting to \(address) was cancelled")
    }
    connections[address]?.isLostEarly = false
    do throws(AccessoryError) {
      try await radios[connection.radio].connect(to: address, isDual: connection.isDual)
    } catch {
      return error
    }
    guard connections[address]?.number == number else {
      try? await radios[connection.radio].disconnect()
      return AccessoryError(.cancelled, "connecting to \(address) was cancelled")
    }
    return nil
  }

  private func made(_ address: BluetoothAddress, isAgain: Bool) {
    connections[address]?.stage = .connected
    tell(.connected(address, isAgain: isAgain))
    tellState()
    if connections[address]?.isLostEarly == true { lose(address) }
  }

  private func end(_ address: BluetoothAddress, _ number: Int) {
    if connections[address]?.number == number { connections[address] = nil }
    tellState()
  }

  /// Handles a lost connection: reconnects as the policy says.
  func lose(_ address: BluetoothAddress) {
    guard let number = connections[address]?.number else { return }
    tell(.lost(address))
    guard policy.reconnect.tries > 0 else {
      connections[address] = nil
      tell(.gaveUp(address))
      return tellState()
    }
    connections[address]?.stage = .reconnecting
    connections[address]?.task = Task { [weak self] in await self?.reconnect(address, number) }
    tellState()
  }

  private func reconnect(_ address: BluetoothAddress, _ number: Int) async {
    for triesLeft in (0..<policy.reconnect.tries).reversed() {
      await clock.sleep(for: policy.reconnect.interval)
      guard let connection = connections[address], connection.number == number, !Task.isCancelled else { return }
      // The loss may have been reported by the other side while the module is still connected.
      try? await radios[connection.radio].disconnect()
      guard let error = await attempt(address, number) else { return made(address, isAgain: true) }
      guard connections[address]?.number == number, !Task.isCancelled else { return }
      tell(.attemptFailed(address, error, triesLeft: triesLeft))
    }
    connections[address] = nil
    tell(.gaveUp(address))
    tellState()
  }

  /// Ends a connection, or stops connecting or reconnecting.
  ///
  /// Throws `notConnected`, and `failed` when the module doesn't answer.
  public func disconnect(from address: BluetoothAddress) async throws(HM10CentralError) {
    guard let connection = connections.removeValue(forKey: address) else { throw .notConnected(address) }
    connection.task?.cancel()
    if connection.stage == .connected {
      do throws(AccessoryError) {
        try await radios[connection.radio].disconnect()
      } catch {
        tellState()
        throw .failed(error)
      }
    }
    tell(.disconnected(address))
    tellState()
  }

  /// Sends bytes to a device. Returns when they were written.
  ///
  /// Throws `notConnected`, also while reconnecting, and `failed`.
  public func send(_ bytes: [UInt8], to address: BluetoothAddress) async throws(HM10CentralError) {
    guard let connection = connections[address], connection.stage == .connected else { throw .notConnected(address) }
    do throws(AccessoryError) {
      try await radios[connection.radio].send(bytes)
    } catch {
      throw .failed(error)
    }
  }
}
