// SPDX-License-Identifier: Apache-2.0

import AccessoryTesting
import CoreFoundation
import TestSupport
import Testing

@testable import CoreBluetooth

/// What has no device: UUIDs, errors, options, attributes of ours.
@Suite struct ValueTests {
  private static let long = "0000FFE1-0000-1000-8000-00805F9B34FB"
  private static let nordic = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"

  @Test func uuidsAreEqualAcrossTheirForms() throws {
    let forms = [
      CBUUID(string: "FFE1"), CBUUID(string: "ffe1"), CBUUID(string: "0000FFE1"), CBUUID(string: Self.long),
      CBUUID(string: "0xFFE1"), CBUUID(string: "0Xffe1"), CBUUID(string: "0x0000ffe1"),
      CBUUID(string: "0x" + Self.long),
      CBUUID(string: Self.long.lowercased()), CBUUID(data: Data([0xFF, 0xE1])), CBUUID(data: Data([0, 0, 0xFF, 0xE1])),
      CBUUID(nsuuid: try #require(UUID(uuidString: Self.long))),
      CBUUID(
        cfuuid: CFUUIDCreateWithBytes(nil, 0, 0, 0xFF, 0xE1, 0, 0, 0x10, 0, 0x80, 0, 0, 0x80, 0x5F, 0x9B, 0x34, 0xFB)),
    ]
    for uuid in forms {
      #expect(uuid == forms[0] && uuid.hash == forms[0].hash && uuid.uuidString == "FFE1")
      #expect(uuid.data == Data([0xFF, 0xE1]) && uuid.description == "FFE1" && uuid.bluetooth.description == "ffe1")
    }
    #expect(Set(forms).count == 1 && [forms[3]: 1][CBUUID(string: "FFE1")] == 1)
    #expect(forms.contains(CBUUID(string: "FFE1")) && forms[0].copy() as? CBUUID === forms[0])
  }

  @Test func otherUUIDs() {
    let middle = CBUUID(string: "12345678")
    #expect(middle.uuidString == "12345678" && middle.data.count == 4)
    #expect(middle == CBUUID(string: "12345678-0000-1000-8000-00805f9b34fb") && middle != CBUUID(string: "5678"))
    let nordic = CBUUID(string: Self.nordic.lowercased())
    #expect(nordic.uuidString == Self.nordic && nordic.data.count == 16 && nordic == CBUUID(data: nordic.data))
    #expect(nordic.bluetooth.text == Self.nordic.lowercased() && CBUUID(nordic.bluetooth) == nordic)
    #expect(nordic != CBUUID(string: "FFE1") && !nordic.isEqual("FFE1") && !nordic.isEqual(nil))
  }

  @Test func whatSourcesOfApplesSystemsAlsoHave() {
    #expect(CBUUID().uuidString == "0000" && CBUUID() == CBUUID(string: "0000"))
    let now: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()
    let interval: CFTimeInterval = CFAbsoluteTimeGetCurrent() - now
    #expect(abs(now - Date().timeIntervalSinceReferenceDate) < 60 && abs(interval) < 60)
  }

  @Test(
    arguments: [
      "", "FFE", "FFE11", "XYZW", "FFE1 ", "0000FFE1-0000-1000-8000", "FF-E1", "ÄÄ", String(nordic.dropLast()) + "G",
      "0x", "0xFF", "0xFFE", "0x0xFFE1", "x0FFE1", "FFE1h", "0x180D ", nordic.filter { $0 != "-" }, "{\(nordic)}",
    ])
  func whatIsNoUUID(_ text: String) { #expect(CBUUID(validating: text) == nil) }

  /// As Apple's does, with its words, which are also printed by an optimized program.
  @Test func aTextThatIsNoUUIDEndsTheProgram() async throws {
    let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = CBUUID(string: "HM-10\u{1B}[31m")
    }
    let said = String(decoding: try #require(text).standardErrorContent, as: UTF8.self)
    #expect(said.contains("String HM-10\\u{1b}[31m does not represent a valid UUID"), "\(said)")
    let data = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = CBUUID(data: Data([1, 2, 3]))
    }
    #expect(String(decoding: try #require(data).standardErrorContent, as: UTF8.self).contains("Data of 3 bytes"))
  }

  @Test func theEnvironmentNamesAnAdapter() {
    #expect(AdapterChoice.adapter(nil) == nil && AdapterChoice.adapter("") == nil)
    #expect(AdapterChoice.adapter("hci1")?.description == "hci1")
    #expect(AdapterChoice.adapter("00:aa:01:00:00:43")?.description == "00:AA:01:00:00:43")
    #expect(AdapterChoice.adapter("usb\u{1B}[31m") == nil)
    #expect(
      Misuse.texts.contains(
        "ACCESSORY_BRIDGE_BLUETOOTH_ADAPTER must be the name of an adapter, like hci1, or its address: any adapter is used, "
          + "not usb\\u{1b}[31m"))
  }

  @Test func errorsAreThoseOfApplesDomains() throws {
    let error: any Error = CBError(.connectionTimeout)
    #expect((error as NSError).domain == "CBErrorDomain" && (error as NSError).code == 6)
    #expect((error as? CBError)?.code == .connectionTimeout && !error.localizedDescription.isEmpty)
    do { throw error } catch CBError.connectionTimeout {} catch { Issue.record("not caught: \(error)") }
    do { throw NSError(domain: CBErrorDomain, code: 7) } catch CBError.peripheralDisconnected {}
    #expect(CBError.Code.unknownDevice.rawValue == 12 && CBError.unkownDevice == .unknownDevice)
    #expect(CBError.tooManyLEPairedDevices.rawValue == 16 && CBError.operationNotSupported.rawValue == 13)
    let refusal: any Error = CBATTError(.insufficientResources)
    #expect((refusal as NSError).domain == "CBATTErrorDomain" && (refusal as NSError).code == 17)
    do { throw refusal } catch CBATTError.insufficientResources {} catch { Issue.record("not caught: \(error)") }
    #expect(CBATTError.success.rawValue == 0 && CBError(.unknown) == CBError(.unknown))
    do { throw NSError(domain: "Other", code: 7) } catch CBError.peripheralDisconnected {
      Issue.record("another domain's")
    } catch {}
  }

  /// As Apple's: names for what its framework names, digits for all others.
  @Test func descriptionsAreThoseOfApplesFramework() {
    #expect("\(CBUUID(string: "180D"))" == "Heart Rate" && "\(CBUUID(string: "2a19"))" == "Battery Level")
    #expect("\(CBUUID(string: "2A37"))" == "2A37" && CBUUID(string: "180D").uuidString == "180D")
    let service = CBMutableService(type: CBUUID(string: "180F"), primary: true)
    #expect(service.description.hasPrefix("<CBMutableService: 0x"))
    #expect(service.description.hasSuffix(", isPrimary = YES, UUID = Battery>"), "\(service)")
    let level = CBMutableCharacteristic(
      type: CBUUID(string: "2A19"), properties: [.read, .notify], value: nil, permissions: .readable)
    #expect(level.description.hasSuffix(", UUID = Battery Level, properties = 0x12, value = (null), notifying = NO>"))
    level.value = Data([0, 0x48])
    #expect(level.description.contains("value = {length = 2, bytes = 0x0048}"), "\(level)")
    let words = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Le\u{1B}[31mvel")
    #expect(
      words.description.hasSuffix(", UUID = Characteristic User Description, value = Le\\u{1b}[31mvel>"), "\(words)")
  }

  /// Deprecated there, and still used.
  @available(*, deprecated) @Test func whatIsDeprecatedThereIsHere() {
    #expect(CBPeripheralManager.authorizationStatus() == .authorized)
    #expect(CBPeripheralManagerAuthorizationStatus.authorized.rawValue == 3)
    let level = CBMutableCharacteristic(
      type: CBUUID(string: "2A19"), properties: .read, value: nil, permissions: .readable)
    #expect(!level.isBroadcasted)
    #expect(CBError.Code.unkownDevice.rawValue == 12 && CBError.Code.unknownDevice == .unkownDevice)
    #expect(CBError.leGattExceededBackgroundNotificationLimit.rawValue == 17)
    #expect(CBError.leGattNearBackgroundNotificationLimit.rawValue == 18)
    #expect(CBUUIDCharacteristicObservationScheduleString == "2910")
  }

  @Test func numbersAreApples() {
    #expect(CBManagerState.poweredOn.rawValue == 5 && CBCentralManagerState.unsupported.rawValue == 2)
    #expect(CBManagerAuthorization.allowedAlways.rawValue == 3 && CBPeripheralState.disconnecting.rawValue == 3)
    #expect(CBCharacteristicWriteType.withoutResponse.rawValue == 1)
    let properties: CBCharacteristicProperties = [.read, .writeWithoutResponse, .notify]
    #expect(properties.rawValue == 0x16 && properties.contains(.writeWithoutResponse) && !properties.contains(.write))
    #expect(CBCharacteristicProperties.indicateEncryptionRequired.rawValue == 0x200)
    #expect(CBAttributePermissions.writeEncryptionRequired.rawValue == 8)
    #expect(CBAdvertisementDataLocalNameKey == "kCBAdvDataLocalName")
  }

  @Test func optionsAreTruthsOfBothKinds() {
    let key = CBCentralManagerScanOptionAllowDuplicatesKey
    for options: [String: Any] in [[key: true], [key: NSNumber(value: true)], [key: NSNumber(value: 1)]] {
      #expect(Optional(options).isTrue(key))
    }
    for options: [String: Any]? in [nil, [:], [key: false], [key: "yes"], [key: NSNumber(value: 0)]] {
      #expect(!options.isTrue(key))
    }
  }

  @Test func attributesOfOurs() {
    let service = CBMutableService(type: CBUUID(string: "180F"), primary: true)
    let level = CBMutableCharacteristic(
      type: CBUUID(string: "2A19"), properties: [.read, .notify], value: nil, permissions: .readable)
    let words = CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "Level")
    level.descriptors = [words]
    level.value = Data([50])
    service.characteristics = [level]
    service.includedServices = []
    #expect(service.characteristics?.first === level && service.isPrimary && service.peripheral == nil)
    #expect(level.permissions == .readable && level.value == Data([50]) && level.subscribedCentrals == [])
    #expect(words.value as? String == "Level" && (service as CBService).characteristics?.count == 1)
    level.properties = .write
    level.permissions = [.writeable]
    #expect(level.properties == .write && level.permissions == .writeable)
    let refused = CBMutableDescriptor(type: CBUUID(string: "2902"), value: NSNumber(value: 1))
    #expect(refused.value == nil && Misuse.texts.contains { $0.contains("2902") && $0.contains("2901") })
  }

  @Test func descriptorsHaveTheTypesOfTheirUUIDs() {
    func value(_ uuid: String, _ bytes: [UInt8]) -> Any { DescriptorValue(bytes, of: CBUUID(string: uuid)).object }
    #expect(value("2900", [1, 0]) as? NSNumber == 1 && value("2902", [2, 1]) as? NSNumber == 0x102)
    #expect(value("2902", []) as? NSNumber == 0 && value("2902", [1]) as? NSNumber == 1)
    #expect(value("2901", Array("Größe".utf8)) as? String == "Größe" && value("2901", [0xFF]) as? String == "\u{FFFD}")
    #expect(value("2904", [1, 2]) as? Data == Data([1, 2]) && value("ABCD", []) as? Data == Data())
  }
}
