// SPDX-License-Identifier: Apache-2.0

/// The numbers of the native API's messages, as ESPHome's `api.proto` has them, version 1.18.
package enum NativeMessageID {
  package static let hello = 1
  package static let helloReply = 2
  package static let login = 3
  package static let loginReply = 4
  package static let leave = 5
  package static let leaveReply = 6
  package static let ping = 7
  package static let pingReply = 8
  package static let deviceInfo = 9
  package static let deviceInfoReply = 10
  package static let listEntities = 11
  package static let listEnd = 19
  package static let subscribeStates = 20
  package static let switchCommand = 33
  package static let numberCommand = 51
  package static let selectCommand = 54
  package static let buttonCommand = 62
  package static let textCommand = 99
  package static let serialConfigure = 138
  package static let serialReceived = 139
  package static let serialWrite = 140
  package static let serialSetPins = 141
  package static let serialGetPins = 142
  package static let serialPins = 143
  package static let serialRequest = 144
  package static let serialReply = 147
  package static let capabilities = 149
  package static let capabilitiesReply = 150
  package static let serialSetMode = 152
  package static let serialSubscribeIdentity = 154
  package static let serialIdentity = 155
}
