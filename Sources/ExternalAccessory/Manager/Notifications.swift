// SPDX-License-Identifier: Apache-2.0

import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// In the user information of both notifications: the `EAAccessory`.
public let EAAccessoryKey = "EAAccessoryKey"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// In the user information of a connection that the picker waited for: the `EAAccessory`.
public let EAAccessorySelectedKey = "EAAccessorySelectedKey"

extension NSNotification.Name {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// An accessory was connected. Posted on the main thread by the shared manager.
  public static let EAAccessoryDidConnect = NSNotification.Name("EAAccessoryDidConnectNotification")
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// An accessory was disconnected. Posted on the main thread by the shared manager, when the delegates of its streams
  /// have been told of their end.
  public static let EAAccessoryDidDisconnect = NSNotification.Name("EAAccessoryDidDisconnectNotification")
}

extension EAAccessoryManager {
  /// An accessory was connected.
  public struct AccessoryDidConnectMessage: NotificationCenter.MainActorMessage {
    /// Who tells.
    public typealias Subject = EAAccessoryManager

    /// The notification's name.
    public static var name: Notification.Name { .EAAccessoryDidConnect }

    /// The accessory.
    public var accessory: EAAccessory
    /// Whether the picker waited for it.
    public var userSelected: Bool

    /// A message of these parts.
    public init(accessory: EAAccessory, userSelected: Bool) {
      self.accessory = accessory
      self.userSelected = userSelected
    }

    /// The message that a notification stands for.
    public static func makeMessage(_ notification: Notification) -> Self? {
      guard let accessory = notification.userInfo?[EAAccessoryKey] as? EAAccessory else { return nil }
      return Self(accessory: accessory, userSelected: notification.userInfo?[EAAccessorySelectedKey] != nil)
    }

    /// The notification that a message stands for.
    public static func makeNotification(_ message: Self) -> Notification {
      var information: [String: EAAccessory] = [EAAccessoryKey: message.accessory]
      if message.userSelected { information[EAAccessorySelectedKey] = message.accessory }
      return Notification(name: name, object: EAAccessoryManager.shared(), userInfo: information)
    }
  }

  /// An accessory was disconnected.
  public struct AccessoryDidDisconnectMessage: NotificationCenter.MainActorMessage {
    /// Who tells.
    public typealias Subject = EAAccessoryManager

    /// The notification's name.
    public static var name: Notification.Name { .EAAccessoryDidDisconnect }

    /// The accessory.
    public var accessory: EAAccessory

    /// A message about `accessory`.
    public init(accessory: EAAccessory) { self.accessory = accessory }

    /// The message that a notification stands for.
    public static func makeMessage(_ notification: Notification) -> Self? {
      (notification.userInfo?[EAAccessoryKey] as? EAAccessory).map { Self(accessory: $0) }
    }

    /// The notification that a message stands for.
    public static func makeNotification(_ message: Self) -> Notification {
      Notification(
        name: name, object: EAAccessoryManager.shared(), userInfo: [EAAccessoryKey: message.accessory])
    }
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<EAAccessoryManager.AccessoryDidConnectMessage> {
  /// An accessory was connected.
  public static var accessoryDidConnect: Self { Self() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<EAAccessoryManager.AccessoryDidDisconnectMessage> {
  /// An accessory was disconnected.
  public static var accessoryDidDisconnect: Self { Self() }
}
