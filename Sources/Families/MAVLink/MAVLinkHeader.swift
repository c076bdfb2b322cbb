// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The two versions of frames.
public enum MAVLinkVersion: UInt8, Sendable, Hashable, CaseIterable {
  /// Frames that begin with FE.
  case one = 1
  /// Frames that begin with FD. They allow more messages and signatures, and leave out zeros at the end of a payload.
  case two = 2

  /// The first byte of its frames.
  var start: UInt8 { self == .one ? 0xFE : 0xFD }
  /// Bytes in front of the payload.
  var headerByteCount: Int { self == .one ? 6 : 10 }
}

/// What a MAVLink frame says besides its payload.
public struct MAVLinkHeader: Sendable, Hashable {
  /// The version of the frame.
  public var version: MAVLinkVersion
  /// Features that a receiver must know to understand the frame; only in version 2.
  public var incompatibilityFlags: UInt8 = 0
  /// Features that a receiver may ignore; only in version 2.
  public var compatibilityFlags: UInt8 = 0
  /// The sequence number of the sender's frames, modulo 256.
  public var sequence: UInt8
  /// The number of the system that sent the frame: a vehicle, or another device with a number of its own.
  public var system: UInt8
  /// The number of the component of the system that sent the frame.
  public var component: UInt8
  /// The number of the message: at most 24 bits in version 2, 8 in version 1.
  public var message: UInt32
  /// The signature, 13 bytes, which proves who sent the frame; empty unless the frame is signed. It isn't verified
  /// here.
  public var signature: [UInt8] = []

  /// A header of these parts.
  public init(
    _ message: UInt32, version: MAVLinkVersion = .two, sequence: UInt8 = 0, system: UInt8, component: UInt8
  ) {
    self.version = version
    self.sequence = sequence
    self.system = system
    self.component = component
    self.message = message
  }

  /// Whether a signature follows the checksum.
  public var isSigned: Bool { incompatibilityFlags & Self.signed != 0 }

  /// The flag of signed frames, the only incompatibility flag that is known here.
  static let signed: UInt8 = 0x01
  /// The size of a signature, in bytes.
  static let signatureByteCount = 13
  /// The size of the checksum, in bytes.
  static let checksumByteCount = 2

  /// Reads the header at `index`, where the start byte of `version` is; nil if it is incomplete. The signature is left
  /// out, as it is at the end of the frame.
  init?(_ bytes: RawSpan, at index: Int, _ version: MAVLinkVersion) {
    guard bytes.byteCount - index >= version.headerByteCount else { return nil }
    self.version = version
    switch version {
    case .one:
      sequence = bytes.byte(at: index + 2)
      system = bytes.byte(at: index + 3)
      component = bytes.byte(at: index + 4)
      message = UInt32(bytes.byte(at: index + 5))
    case .two:
      incompatibilityFlags = bytes.byte(at: index + 2)
      compatibilityFlags = bytes.byte(at: index + 3)
      sequence = bytes.byte(at: index + 4)
      system = bytes.byte(at: index + 5)
      component = bytes.byte(at: index + 6)
      message =
        UInt32(bytes.byte(at: index + 7)) | UInt32(bytes.byte(at: index + 8)) << 8
        | UInt32(bytes.byte(at: index + 9)) << 16
    }
  }

  /// The size of a frame with a payload of this size, in bytes.
  func frameByteCount(payload: Int) -> Int {
    version.headerByteCount + payload + Self.checksumByteCount + (isSigned ? Self.signatureByteCount : 0)
  }

  /// Appends the header to `output`. `payload` is the size of the payload in bytes.
  func append(to output: inout [UInt8], payload: UInt8) {
    output.append(version.start)
    output.append(payload)
    if version == .two {
      output.append(incompatibilityFlags)
      output.append(compatibilityFlags)
    }
    output.append(sequence)
    output.append(system)
    output.append(component)
    output.append(UInt8(truncatingIfNeeded: message))
    if version == .two {
      output.append(UInt8(truncatingIfNeeded: message >> 8))
      output.append(UInt8(truncatingIfNeeded: message >> 16))
    }
  }
}
