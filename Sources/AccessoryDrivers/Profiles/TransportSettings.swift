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
