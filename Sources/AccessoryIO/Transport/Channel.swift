// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An opened device, whatever passes between it and this program: bytes (`Transport`), or what the drivers of such devices ask for
/// (`DeviceChannel`).
public protocol Channel: AnyObject, Sendable {
  /// The device's name for people ("/dev/ttyUSB0"), for error messages and logs.
  var label: String { get }
  /// Closes the device and restores its settings. Returns when other programs can open it. Any task may call it, more
  /// than once.
  func close() async
  /// Starts `close()` without waiting for it.
  func beginClose()
  /// Reports that udev has announced the device's removal. The channel then ends as if it had detected the removal
  /// itself.
  func deviceWasRemoved()
}

/// What passes between a program and an opened device.
public enum ChannelKind: String, Sendable, Hashable, CaseIterable {
  /// A stream of bytes in both directions: a `Transport`.
  case bytes
  /// Reports of a human interface device.
  case reports
  /// Named values that are read one by one: characteristics of GATT, or files of the kernel.
  case attributes
  /// What a device advertises, without a connection.
  case advertisements
}

/// A channel that carries no bytes. A driver names it as the one that it wants, and is given devices that are opened so.
public protocol DeviceChannel: Channel {
  /// What passes: not `bytes`.
  static var kind: ChannelKind { get }
  /// What such a device is, for errors: "human interface device".
  static var device: String { get }
  /// How such a device is used, for errors: "is asked by HID reports".
  static var manner: String { get }
  /// How the device at an address is opened; nil if no such device can be there. Opens nothing.
  static func source(of address: DeviceAddress) -> ChannelSource<Self>?
  /// Waits until the device is lost, and throws why; returns when this program has closed it, or the task is cancelled. Only for
  /// callers that have given the channel to no driver: it takes what the device tells by itself.
  func ended() async throws(AccessoryError)
}

/// Opens a device as a channel. Throws `notFound`, `permissionDenied`, `busy`, `unsupported` and the like.
public typealias ChannelSource<Opened> =
  @Sendable (_ request: ChannelRequest) async throws(AccessoryError) -> Opened

/// How a device is to be opened as a channel.
public struct ChannelRequest: Sendable {
  /// The device's name in errors.
  public var label: String
  /// The Bluetooth adapter that is to connect it, where its address names none; nil for any.
  public var adapter: BluetoothAdapterName?
  /// The thread for the I/O.
  public var io: IOThread

  /// A request.
  public init(label: String, adapter: BluetoothAdapterName? = nil, io: IOThread = .shared) {
    (self.label, self.adapter, self.io) = (label, adapter, io)
  }
}
