// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// How the devices of a profile are opened.
public struct TransportSettings: Sendable, Hashable {
  /// The way in, where a device has both; nil takes the device's usual one, its terminal.
  public var preferredTransport: TransportKind?
  /// Where the way in is a terminal.
  public var terminal = TerminalSettings()
  /// Where the way in is a pair of endpoints.
  public var usb = USBSettings()

  /// A terminal of 115,200 baud; endpoints found from the descriptors.
  public init() {}
}

/// The settings of a serial line. See `TerminalConfiguration` for the meaning of each.
public struct TerminalSettings: Sendable, Hashable {
  /// Bits a second. The default is 115,200.
  public var baudRate: UInt32 = 115_200
  /// Data bits of a character, 5…8.
  public var dataBits = 8
  /// The parity bit. The default is `none`.
  public var parity = TerminalConfiguration.Parity.none
  /// Stop bits of a character, 1 or 2.
  public var stopBits = 1
  /// Who tells whom to pause. The default is `none`.
  public var flowControl = TerminalConfiguration.FlowControl.none
  /// Data Terminal Ready. The default is `keep`.
  public var dtr = TerminalConfiguration.ModemLineSetting.keep
  /// Request To Send. The default is `keep`.
  public var rts = TerminalConfiguration.ModemLineSetting.keep
  /// RS-485 direction control; nil leaves the driver's.
  public var rs485: TerminalConfiguration.RS485?
  /// Asks the driver not to wait for more before it delivers. The default is `true`.
  public var lowLatency = true
  /// Time after opening until the first byte is sent or taken. The default is zero.
  public var settle = Duration.zero

  /// 115,200 baud, eight data bits, no parity, one stop bit.
  public init() {}

  /// These settings for the terminal at `path`, called `label` in errors.
  public func configuration(path: String, label: String? = nil) -> TerminalConfiguration {
    var configuration = TerminalConfiguration(path: path, baudRate: baudRate, label: label)
    configuration.dataBits = dataBits
    configuration.parity = parity
    configuration.stopBits = stopBits
    configuration.flowControl = flowControl
    configuration.dtr = dtr
    configuration.rts = rts
    configuration.rs485 = rs485
    configuration.lowLatency = lowLatency
    configuration.settle = settle
    return configuration
  }
}

/// Which pair of endpoints to open, and how. See `USBTransportConfiguration` for the meaning of each setting.
public struct USBSettings: Sendable, Hashable {
  /// The interface; nil takes the first vendor-specific one that fits.
  public var interface: UInt8?
  /// The interface's alternate setting; nil takes the first that fits.
  public var alternateSetting: UInt8?
  /// The address of the IN endpoint; nil takes the interface's first.
  public var inEndpoint: UInt8?
  /// The address of the OUT endpoint; nil takes the interface's first.
  public var outEndpoint: UInt8?
  /// How bytes are put into transfers; nil does as the interface's class wants.
  public var shape: USBTransportConfiguration.Shape?

  /// Endpoints found from the descriptors.
  public init() {}

  /// These settings for the usbfs node at `path`, called `label` in errors.
  public func configuration(path: String, label: String? = nil) -> USBTransportConfiguration {
    var configuration = USBTransportConfiguration(path: path, label: label)
    configuration.interface = interface
    configuration.alternateSetting = alternateSetting
    configuration.inEndpoint = inEndpoint
    configuration.outEndpoint = outEndpoint
    configuration.shape = shape
    return configuration
  }
}
