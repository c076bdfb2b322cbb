// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

/// A device that a test plays, which uses the services that this program offers: `CBPeripheralManager`s that are made within
/// `ScriptedRadio.use`. Everything may be called on any thread. Characteristics are named by their UUIDs.
public final class ScriptedCentral: Sendable {
  /// A value that this program has sent.
  public struct Value: Sendable, Equatable {
    /// The characteristic, in small letters.
    public let characteristic: String
    /// The value, cut to the size of a packet.
    public let bytes: [UInt8]

    /// A value of a characteristic.
    public init(characteristic: String, bytes: [UInt8]) {
      (self.characteristic, self.bytes) = (characteristic, bytes)
    }
  }

  /// Why a request has failed.
  public enum Failure: Error, Sendable, Equatable {
    /// This program has refused, with a number of the Attribute Protocol.
    case refused(UInt8)
    /// This program offers no such characteristic.
    case notFound
    /// The connection has ended before the answer.
    case disconnected
  }

  /// The values that were sent to it, in order.
  public let values = Watched<[Value]>([])
  /// The largest packet, in bytes, with a head of three.
  public let packetSize: Int
  let peer: RadioPeer
  private let radio: ScriptedRadio

  /// A device in reach of `radio`, which connects with its first request. `id` makes it another device than others.
  public init(_ radio: ScriptedRadio, id: String = "central", packetSize: Int = 23) {
    (self.packetSize, self.radio) = (packetSize, radio)
    peer = RadioPeer(name: "scripted/central/" + id)
  }

  var served: ServedCentral { ServedCentral(peer, packetSize: packetSize) }

  /// Reads from a byte on, and returns what is answered.
  public func read(_ characteristic: String, offset: Int = 0) async throws(Failure) -> [UInt8] {
    try await ask(characteristic, offset: offset, nil, true)
  }

  /// Writes, and returns when that was answered.
  public func write(_ bytes: [UInt8], to characteristic: String) async throws(Failure) {
    _ = try await ask(characteristic, offset: 0, bytes, true)
  }

  /// Writes without an answer.
  public func send(_ bytes: [UInt8], to characteristic: String) async throws(Failure) {
    _ = try await ask(characteristic, offset: 0, bytes, false)
  }

  private func ask(
    _ characteristic: String, offset: Int, _ bytes: [UInt8]?, _ needsAnswer: Bool
  ) async throws(Failure) -> [UInt8] {
    let result = OneShot<Result<[UInt8], RadioFailure>>()
    radio.queue.async { [self] in
      radio.stage.request(self, scripted(characteristic), offset: offset, bytes, needsAnswer: needsAnswer) {
        result.finish($0)
      }
    }
    switch await result.value() {
    case .success(let bytes): return bytes
    case .failure(.refused(let number)): throw .refused(number)
    case .failure(.noAttribute): throw .notFound
    case .failure: throw .disconnected
    }
  }

  /// Subscribes to a characteristic's values, or no longer. Throws `notFound` when it sends none.
  public func subscribe(to characteristic: String, _ isOn: Bool = true) async throws(Failure) {
    let isDone = OneShot<Bool>()
    radio.queue.async { [self] in isDone.finish(radio.stage.subscribe(self, scripted(characteristic), isOn)) }
    if await !isDone.value() { throw .notFound }
  }

  /// Ends its connection.
  public func leave() { radio.queue.async { [self] in radio.stage.leave(peer) } }

  func received(_ characteristic: String, _ bytes: [UInt8]) {
    values.update { $0.append(Value(characteristic: characteristic, bytes: bytes)) }
  }
}

extension ScriptedRadio {
  /// Takes no values of this program's until it is called with false: then `updateValue` soon returns false.
  public func holdValues(_ isHeld: Bool) { queue.async { [self] in stage.hold(isHeld) } }
}
