// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// How a profile's devices are opened.
public struct TransportSettings: Sendable, Hashable {
  /// The transport to use when the device has several; nil means the usual one, the terminal.
  public var preferredTransport: TransportKind?
  /// The settings that apply when the transport is a terminal.
  public var terminal = TerminalSettings()
  /// The settings that apply when the transport is a pair of USB endpoints.
  public var usb = USBSettings()
  /// The Bluetooth adapter that connects the device where its address names none; nil means the one that knows it.
  public var bluetoothAdapter: BluetoothAdapterName?
  /// The characteristics that are used when the transport is Bluetooth Low Energy.
  public var gatt = GATTSettings()
  /// The key of a device that encrypts what it advertises; nil where it has none, or the user hasn't told it.
  public var advertisementKey: AdvertisementKey?
  /// The channel, 1…30, of a Bluetooth Classic serial port whose address names none; nil means the one that the device
  /// advertises.
  public var rfcommChannel: UInt8?
  /// The file with the key of the ESPHome node whose serial port it is: 44 characters of base64; nil where the node doesn't encrypt.
  public var nodeKeyFile: String?

  /// The default settings: a terminal with 115,200 baud, and endpoints found from the descriptors.
  public init() {}
}

/// The settings of a serial line. See `TerminalConfiguration` for the meaning of each.
public struct TerminalSettings: Sendable, Hashable {
  /// The baud rate, in bits per second. The default is 115,200.
  public var baudRate: UInt32 = 115_200
  /// Data bits of a character, 5…8.
  public var dataBits = 8
  /// The parity bit. The default is `none`.
  public var parity = TerminalConfiguration.Parity.none
  /// Stop bits of a character, 1 or 2.
  public var stopBits = 1
  /// How sender and receiver pause each other. The default is `none`.
  public var flowControl = TerminalConfiguration.FlowControl.none
  /// The modem line Data Terminal Ready. The default is `keep`.
  public var dtr = TerminalConfiguration.ModemLineSetting.keep
  /// The modem line Request To Send. The default is `keep`.
  public var rts = TerminalConfiguration.ModemLineSetting.keep
  /// RS-485 direction control; nil leaves the serial driver's setting.
  public var rs485: TerminalConfiguration.RS485?
  /// Asks the serial driver to deliver bytes at once, without waiting for more. The default is `true`.
  public var lowLatency = true
  /// The time after opening before the first byte is sent or accepted. The default is zero.
  public var settle = Duration.zero

  /// The default settings: 115,200 baud, eight data bits, no parity, one stop bit.
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
  /// The interface; nil means the first suitable vendor-specific one.
  public var interface: UInt8?
  /// The interface's alternate setting; nil means the first suitable one.
  public var alternateSetting: UInt8?
  /// The address of the IN endpoint; nil means the interface's first.
  public var inEndpoint: UInt8?
  /// The address of the OUT endpoint; nil means the interface's first.
  public var outEndpoint: UInt8?
  /// How bytes are divided into transfers; nil means the shape that suits the interface's class.
  public var shape: USBTransportConfiguration.Shape?

  /// The default settings: endpoints found from the descriptors.
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
