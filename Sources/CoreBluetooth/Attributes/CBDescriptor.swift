// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// A descriptor of a characteristic: a fact about its value.
///
/// `@unchecked Sendable`: what changes is behind a lock, which is never held while another one is taken. The weak reference is
/// set before others have the object, and reading one is safe on any thread.
open class CBDescriptor: CBAttribute, @unchecked Sendable {
  private let contents: Locked<DescriptorValue?>
  private nonisolated(unsafe) weak var owner: CBCharacteristic?

  init(_ uuid: CBUUID, _ place: AttributePlace?, value: DescriptorValue? = nil, of characteristic: CBCharacteristic?) {
    contents = Locked(value)
    owner = characteristic
    super.init(uuid, place)
  }

  /// The characteristic of this descriptor; nil if that object was released, and for a descriptor that this program
  /// offers.
  open var characteristic: CBCharacteristic? { owner }

  /// The value that was read last; nil before. The UUID determines its type: `NSNumber` for 2900, 2902 and 2903,
  /// `String` for 2901, and `Data` for all others.
  open var value: Any? { contents.withLock { $0 }?.object }

  /// For a log, in the form of Apple's.
  open override var description: String {
    let value =
      switch contents.withLock({ $0 }) {
      case .number(let number)?: "\(number)"
      case .text(let text)?: SafeText.escape(text, limit: 512)
      case .data(let data)?: Self.words(data)
      case nil: Self.words(nil)
      }
    return words(["UUID = \(uuid)", "value = " + value])
  }

  /// Its value as it is on the air; nil without one.
  var bytes: [UInt8]? {
    switch contents.withLock({ $0 }) {
    case .number(let number)?: [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
    case .text(let text)?: Array(text.utf8)
    case .data(let data)?: Array(data)
    case nil: nil
    }
  }

  func set(_ value: DescriptorValue?) { contents.withLock { $0 = value } }
}

/// The value of a descriptor, in the type that its UUID determines.
enum DescriptorValue: Sendable, Equatable {
  case number(UInt16)
  case text(String)
  case data(Data)

  /// The value in a device's reply. A number that is too short is filled with zeros.
  init(_ bytes: [UInt8], of uuid: CBUUID) {
    switch uuid.uuidString {
    case CBUUIDCharacteristicExtendedPropertiesString, CBUUIDClientCharacteristicConfigurationString,
      CBUUIDServerCharacteristicConfigurationString:
      self = .number(bytes.prefix(2).reversed().reduce(0) { $0 << 8 | UInt16($1) })
    case CBUUIDCharacteristicUserDescriptionString: self = .text(String(decoding: bytes, as: UTF8.self))
    default: self = .data(Data(bytes))
    }
  }

  /// The bytes of a program's value; nil for other types.
  init?(_ object: Any) {
    switch object {
    case let text as String: self = .text(text)
    case let data as Data: self = .data(data)
    case let number as NSNumber: self = .number(number.uint16Value)
    default: return nil
    }
  }

  /// In the type of Apple's framework.
  var object: Any {
    switch self {
    case .number(let number): NSNumber(value: number)
    case .text(let text): text
    case .data(let data): data
    }
  }
}

/// A descriptor that this program offers, for `CBPeripheralManager`.
///
/// `@unchecked Sendable`: it stores nothing that its superclass doesn't.
open class CBMutableDescriptor: CBDescriptor, @unchecked Sendable {
  /// A descriptor with a constant value: a `String` for 2901, a `Data` for 2904. Others are made by the system.
  public init(type UUID: CBUUID, value: Any?) {
    let isOurs =
      [CBUUIDCharacteristicUserDescriptionString, CBUUIDCharacteristicFormatString].contains(UUID.uuidString)
    if !isOurs {
      Misuse.log("CBMutableDescriptor(type:value:): only 2901 and 2904 can be made, not \(UUID.uuidString)")
    }
    super.init(UUID, nil, value: isOurs ? value.flatMap { DescriptorValue($0) } : nil, of: nil)
  }
}
