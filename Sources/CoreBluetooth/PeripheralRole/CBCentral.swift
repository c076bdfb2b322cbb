// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import Foundation

/// A device that uses services of this program. It is the same object as long as the device is connected.
///
/// `@unchecked Sendable`: what changes is behind a lock.
open class CBCentral: CBPeer, @unchecked Sendable {
  private let packetSize: Locked<Int>

  init(_ central: ServedCentral) {
    packetSize = Locked(central.packetSize)
    super.init(identifier: central.peer.identifier)
  }

  /// How many bytes it can be sent at a time. Longer values are cut.
  open var maximumUpdateValueLength: Int { GATTPacket.room(in: packetSize.withLock { $0 }) }

  /// For a log, in the form of Apple's.
  open override var description: String {
    words(["identifier = \(identifier)", "MTU = \(packetSize.withLock { $0 })"])
  }

  func set(packetSize size: Int) { packetSize.withLock { $0 = size } }
}

/// What a central asks of a characteristic.
///
/// `@unchecked Sendable`: what changes is behind a lock.
open class CBATTRequest: NSObject, @unchecked Sendable {
  private let contents: Locked<Data?>
  /// Which request it is.
  let request: ServingRequest
  /// Who asks.
  public let central: CBCentral
  /// What is asked for.
  public let characteristic: CBCharacteristic
  /// From which byte on.
  public let offset: Int

  init(_ request: ServingRequest, _ central: CBCentral, _ characteristic: CBCharacteristic) {
    (self.request, self.central, self.characteristic) = (request, central, characteristic)
    offset = request.offset
    contents = Locked(request.bytes.map { Data($0) })
  }

  /// What is written, or the answer to a read: the bytes from `offset` on.
  open var value: Data? {
    get { contents.withLock { $0 } }
    set { contents.withLock { $0 = newValue } }
  }
}
