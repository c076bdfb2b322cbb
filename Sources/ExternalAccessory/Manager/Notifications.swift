// SPDX-License-Identifier: Apache-2.0

import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of the `EAAccessory` in the user information of both notifications.
public let EAAccessoryKey = "EAAccessoryKey"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of the `EAAccessory` in the user information of a connection that the picker has waited for.
public let EAAccessorySelectedKey = "EAAccessorySelectedKey"

extension NSNotification.Name {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// An accessory was connected. Posted on the main thread by the shared manager.
  public static let EAAccessoryDidConnect = NSNotification.Name("EAAccessoryDidConnectNotification")
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// An accessory was disconnected. Posted on the main thread by the shared manager, after the delegates of its streams
  /// have received the end events.
  public static let EAAccessoryDidDisconnect = NSNotification.Name("EAAccessoryDidDisconnectNotification")
}

// Typed messages came to Foundation for Linux with Swift 6.3.
#if compiler(>=6.3)
  extension EAAccessoryManager {
    /// An accessory was connected.
    public struct AccessoryDidConnectMessage: NotificationCenter.MainActorMessage {
      /// The object that posts the message.
      public typealias Subject = EAAccessoryManager

      /// The notification's name.
      public static var name: Notification.Name { .EAAccessoryDidConnect }

      /// The accessory.
      public var accessory: EAAccessory
      /// Whether the picker has waited for this accessory.
      public var userSelected: Bool

      /// A message on the connection of `accessory`.
      public init(accessory: EAAccessory, userSelected: Bool) {
        self.accessory = accessory
        self.userSelected = userSelected
      }

      /// Converts a notification to a message.
      public static func makeMessage(_ notification: Notification) -> Self? {
        guard let accessory = notification.userInfo?[EAAccessoryKey] as? EAAccessory else { return nil }
        return Self(accessory: accessory, userSelected: notification.userInfo?[EAAccessorySelectedKey] != nil)
      }

      /// Converts a message to a notification.
      public static func makeNotification(_ message: Self) -> Notification {
        var information: [String: EAAccessory] = [EAAccessoryKey: message.accessory]
        if message.userSelected { information[EAAccessorySelectedKey] = message.accessory }
        return Notification(name: name, object: EAAccessoryManager.shared(), userInfo: information)
      }
    }

    /// An accessory was disconnected.
    public struct AccessoryDidDisconnectMessage: NotificationCenter.MainActorMessage {
      /// The object that posts the message.
      public typealias Subject = EAAccessoryManager

      /// The notification's name.
      public static var name: Notification.Name { .EAAccessoryDidDisconnect }

      /// The accessory.
      public var accessory: EAAccessory

      /// A message on the disconnection of `accessory`.
      public init(accessory: EAAccessory) { self.accessory = accessory }

      /// Converts a notification to a message.
      public static func makeMessage(_ notification: Notification) -> Self? {
        (notification.userInfo?[EAAccessoryKey] as? EAAccessory).map { Self(accessory: $0) }
      }

      /// Converts a message to a notification.
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
#endif
