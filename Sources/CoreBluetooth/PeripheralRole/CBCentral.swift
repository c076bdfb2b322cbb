// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// A device that has connected this program's peripheral. None can, as long as `CBPeripheralManager` is unsupported.
///
/// `@unchecked Sendable`: it stores nothing that its superclass doesn't.
open class CBCentral: CBPeer, @unchecked Sendable {
  /// How many bytes it can be sent at a time.
  open var maximumUpdateValueLength: Int { CBPeripheral.smallestPacket - CBPeripheral.head }
}

/// What a central asks of a characteristic.
///
/// `@unchecked Sendable`: what changes is behind a lock.
open class CBATTRequest: NSObject, @unchecked Sendable {
  private let contents: Locked<Data?>
  /// Who asks.
  public let central: CBCentral
  /// What is asked for.
  public let characteristic: CBCharacteristic
  /// From which byte on.
  public let offset: Int

  init(_ central: CBCentral, _ characteristic: CBCharacteristic, offset: Int, value: Data?) {
    (self.central, self.characteristic, self.offset) = (central, characteristic, offset)
    contents = Locked(value)
  }

  /// What is written, or the answer to a read.
  open var value: Data? {
    get { contents.withLock { $0 } }
    set { contents.withLock { $0 = newValue } }
  }
}
