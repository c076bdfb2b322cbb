// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import CommandOutput
import TestSupport
import Testing

/// Documents, letter for letter: what is published keeps its names, and null stands where nothing is known.
@Suite struct DocumentTests {
  private let bare = DeviceDocument(Samples.bare)
  private let end = #""schema":"accessory-bridge/2""#

  @Test func aDevicesDocumentHasAllItsFields() {
    #expect(DocumentText.line(bare) == Samples.bareText)
    var access = PortAccess(Samples.lamp.address)
    (access.refusal, access.holder) = (AccessoryError(.permissionDenied, "no"), "cat (pid 7)")
    #expect(
      DocumentText.line(DeviceDocument(Samples.lamp, access: access))
        == joined(
          #"{"access":{"holder":"cat (pid 7)","permitted":false,"refusal":"no"},"area":null,"bluetooth":null,"driver":"framed","given_name":null,"id":"L1","#,
          #""initialized":false,"link":"./lamp","links":["/dev/serial/by-id/lamp"],"manufacturer":"Acme","#,
          #""model":"L/9","name":"Lamp","path":"/dev/ttyACM0","serial":"L1","service":null,"#,
          #""source":"udev","terminal":"/dev/ttyACM0","unit":null,"usb":{"address":5,"bus":1,"configuration":1,"damage":"cut off","#,
          #""interfaces":[{"alternate_setting":0,"class":2,"class_name":"communications","driver":"cdc_acm","#,
          #""endpoints":[{"address":129,"direction":"in","interval":10,"max_packet_bytes":64,"transfer":"interrupt"}],"#,
          #""number":0,"protocol":1,"subclass":2}],"node":"/dev/bus/usb/001/005","port":"1-2","product_id":67,"release":null,"#,
          #""speed_mbps":1.5,"vendor_id":9025},"ways":["tty","usb"]}"#))
  }

  /// What a service says of access is not what this command saw.
  @Test func accessIsTheCommandsOwn() throws {
    var fields = try #require(try JSON(encoding: Samples.bare).fields)
    fields["access"] = .object(["permitted": .bool(true)])
    let told: Device = try JSON.object(fields).decoded()
    #expect(DocumentText.line(DeviceDocument(told)) == Samples.bareText)
  }

  @Test func unknownFieldsOfUSBAreNull() {
    var device = Samples.bare
    device.usb = USBIdentity(
      vendorID: 1, productID: 2, bus: 3, address: 4, node: "n", port: "p",
      interfaces: [
        USBInterface(
          description: USBInterfaceDescription(
            number: 0, alternateSetting: 1, function: USBClass(code: 0x55), endpoints: []))
      ])
    let usb =
      joined(
        #""usb":{"address":4,"bus":3,"configuration":null,"damage":null,"interfaces":[{"alternate_setting":1,"#,
        #""class":85,"class_name":null,"driver":null,"endpoints":[],"number":0,"protocol":0,"subclass":0}],"#,
        #""node":"n","port":"p","product_id":2,"release":null,"speed_mbps":null,"vendor_id":1}"#)
    // Without a serial number, the product and the port are its identity.
    #expect(
      DocumentText.line(DeviceDocument(device))
        == Samples.bareText.replacing(#""usb":null"#, with: usb)
        .replacing(#""id":"/dev/ttyS0""#, with: #""id":"0001:0002@p""#))
  }

  @Test func aListsDocumentHasItsDevices() {
    #expect(
      DocumentText.line(DeviceListDocument([])) == #"{"absent":[],"devices":[],"document":"device_list",\#(end)}"#)
    #expect(
      DocumentText.line(DeviceListDocument([bare, bare], absent: [bare]))
        == #"{"absent":[\#(Samples.bareText)],"devices":[\#(Samples.bareText),\#(Samples.bareText)],"document":"device_list",\#(end)}"#
    )
  }

  @Test(
    arguments: [(.connected, "connected"), (.changed, "changed"), (.disconnected, "disconnected")]
      as [(DeviceEventName, String)])
  func anEventsDocumentHasItsDeviceAndTime(name: DeviceEventName, word: String) {
    #expect(
      DocumentText.line(DeviceEventDocument(name, at: 1_795_337_583.125, bare))
        == #"{"device":\#(Samples.bareText),"document":"device_event","event":"\#(word)",\#(end),"time":1795337583.125}"#
    )
  }

  @Test func aBatterysDocumentHasNullsForTheUnknown() {
    #expect(
      DocumentText.line(ReadingDocument(bare, Read(BatteryReading()), at: 2_000_000_000.5))
        == joined(
          #"{"age_ms":0,"alarms":null,"battery":\#(BatteryReading.document()),"device":\#(Samples.bareText),"#,
          #""document":"battery","missing":null,\#(end),"stale":false,"time":2000000000.5,"values":null}"#))
    var full = BatteryReading(percent: 57, millivolts: 3_712, milliamperes: -180, charge: .notCharging)
    (full.timeToEmpty, full.timeToFull, full.cellMillivolts) = (.seconds(60), .zero, [3_712, nil])
    (full.remainingMilliampereHours, full.fullMilliampereHours) = (1, 2)
    (full.cycles, full.healthPercent, full.faults, full.warnings) = (3, 98, [], ["hot"])
    full.milliwatts = -668
    full.temperatures = [.init(24_950, name: "MOS"), .init(nil)]
    let known = BatteryReading.document([
      "cells_mv": "[3712,null]", "charge": #""not_charging""#, "current_ma": "-180", "cycles": "3",
      "derived": #"["level"]"#, "faults": "[]", "full_mah": "2", "health_percent": "98", "level": #""normal""#,
      "level_origin": #""derived""#, "percent": "57", "power_mw": "-668", "remaining_mah": "1",
      "temperatures": #"[{"name":"MOS","temperature_mc":24950},{"name":null,"temperature_mc":null}]"#,
      "time_to_empty_s": "60", "time_to_full_s": "0", "voltage_mv": "3712", "warnings": #"["hot"]"#,
    ])
    #expect(
      DocumentText.line(
        ReadingDocument(bare, Read(full, age: .milliseconds(1_500), isStale: true), at: 2_000_000_000.5))
        == joined(
          #"{"age_ms":1500,"alarms":null,"battery":\#(known),"#,
          #""device":\#(Samples.bareText),"document":"battery","missing":null,\#(end),"stale":true,"time":2000000000.5,"values":null}"#
        ))
  }

  /// The status of an accessory that tells nothing about itself.
  private func nameless(_ status: AccessoryStatus, age: Duration? = nil) -> Read<StatusAndIdentity> {
    Read(StatusAndIdentity(status: status, identity: AccessoryIdentity()), age: age)
  }

  @Test func aStatusDocumentHasNullsForTheUnknown() {
    #expect(
      DocumentText.line(
        ReadingDocument(
          bare,
          Read(StatusAndIdentity(status: AccessoryStatus(state: .idle), identity: AccessoryIdentity(name: "Lamp"))),
          at: 2e9))
        == joined(
          #"{"age_ms":0,"alarms":null,"device":\#(Samples.bareText),"document":"status","identity":{"firmware":null,"hardware":null,"#,
          #""manufacturer":null,"model":null,"name":"Lamp","serial":null},"missing":null,\#(end),"stale":false,"#,
          #""status":{"fault_code":null,"progress_percent":null,"reports_faults":false,"state":"idle"},"time":2000000000,"unfit_alarms":[]}"#
        ))
    let unknown = DocumentText.line(ReadingDocument(bare, nameless(AccessoryStatus()), at: 2e9))
    #expect(
      unknown?.contains(
        #""status":{"fault_code":null,"progress_percent":null,"reports_faults":false,"state":null}"#) == true)
    let fault = AccessoryStatus(state: .fault, faultCode: 9, progress: 3)
    #expect(
      DocumentText.line(ReadingDocument(bare, nameless(fault, age: .milliseconds(7)), at: 2e9))
        == joined(
          #"{"age_ms":7,"alarms":null,"device":\#(Samples.bareText),"document":"status","identity":{"firmware":null,"hardware":null,"#,
          #""manufacturer":null,"model":null,"name":null,"serial":null},"missing":null,\#(end),"stale":false,"#,
          #""status":{"fault_code":9,"progress_percent":3,"reports_faults":true,"state":"fault"},"time":2000000000,"unfit_alarms":[]}"#
        ))
  }

  /// Where an accessory stands with the service that holds it.
  @Test func aHeldDevicesDocumentHasItsService() {
    var held = Bridge.Accessory(device: Samples.bare, state: .waiting, tries: 2, profile: "lamp", driver: "framed")
    held.problem = Bridge.Problem(AccessoryError(.timedOut, "no answer"))
    (held.readings_age_ms, held.tries_limit, held.next_try_ms) = (1_500, 3, 900)
    let service = joined(
      #""service":{"absent":false,"alarms":null,"connected_since":null,"driver":"framed","holder":null,"last":null,"#,
      #""last_seen":null,"missing":null,"next_try_ms":900,"#,
      #""problem":{"kind":"timed_out","message":"no answer"},"profile":"lamp","readings_age_ms":1500,"#,
      #""stale":false,"state":"waiting","tries":2,"tries_limit":3,"unfit_alarms":[],"writes":null}"#)
    #expect(
      DocumentText.line(DeviceDocument(Samples.bare, held: held))
        == Samples.bareText.replacing(#""service":null"#, with: service))
  }

  @Test func anInformationDocumentHasLineProtocolAndIdentity() {
    #expect(
      DocumentText.line(InfoDocument(bare))
        == #"{"device":\#(Samples.bareText),"document":"information","identity":null,"line":null,"protocol":null,\#(end)}"#
    )
    let line = Bridge.Line(
      baud: 9_600, data_bits: 8, stop_bits: 1, parity: "none", flow_control: "none", lowers_lines_on_close: true,
      modem_lines: ["dtr": true, "cts": false])
    let details = ProtocolDetails(name: "AF1", bootID: 42, largestPayload: 256, window: 4)
    #expect(
      DocumentText.line(
        InfoDocument(bare, line: line, protocol: details, identity: AccessoryIdentity(manufacturer: "Acme")))
        == joined(
          #"{"device":\#(Samples.bareText),"document":"information","identity":{"firmware":null,"hardware":null,"#,
          #""manufacturer":"Acme","model":null,"name":null,"serial":null},"line":{"baud":9600,"data_bits":8,"flow_control":"none","latency_timer_ms":null,"#,
          #""low_latency":null,"lowers_lines_on_close":true,"modem_lines":{"cts":false,"dtr":true},"parity":"none","#,
          #""rs485":null,"rs485_delay_after_ms":null,"rs485_delay_before_ms":null,"#,
          #""rs485_receives_while_sending":null,"rs485_rts_after_send":null,"rs485_rts_on_send":null,"stop_bits":1},"protocol":{"boot_id":"0000002a","largest_payload_bytes":256,"name":"AF1","#,
          #""unreadable_fields":null,"window":4},\#(end)}"#))
  }

  @Test func repliesAreDocumentsWithTheirValues() {
    #expect(
      DocumentText.line(RequestDocument(bare, command: "echo", byte: 0x7E, reply: [0xAA, 0]))
        == joined(
          #"{"command":"echo","command_byte":126,"device":\#(Samples.bareText),"document":"request","#,
          #""reply":{"fields":null,"hex":"aa00","size_bytes":2},\#(end)}"#))
    #expect(
      DocumentText.line(AnswersDocument(bare, []))
        == #"{"device":\#(Samples.bareText),"document":"replies","replies":[],\#(end)}"#)
    let answer = CommandAnswer(
      "motor-read",
      [
        NamedValue("speed", unit: "%", .whole(50)),
        NamedValue("ports", .list([.text("A"), .number(0.5), .flag(true)])),
        NamedValue("raw", .bytes([1, 2])), NamedValue("tacho", unit: "°", .nothing),
      ])
    #expect(
      DocumentText.line(AnswersDocument(bare, [answer]))
        == joined(
          #"{"device":\#(Samples.bareText),"document":"replies","replies":[{"command":"motor-read","values":["#,
          #"{"name":"speed","unit":"%","value":50},{"name":"ports","unit":null,"value":["A",0.5,true]},"#,
          #"{"name":"raw","unit":null,"value":{"hex":"0102"}},{"name":"tacho","unit":"°","value":null}]}],\#(end)}"#))
  }

  /// What a terminal would act on is written as escapes; the meaning stays.
  @Test func hostileTextsAreWrittenAsEscapes() throws {
    let text = "a\u{1B}[31m\u{202E}\"\\/\u{10FFFF}"
    let line = try #require(DocumentText.line([text]))
    #expect(line == #"["a\u001b[31m\u202e\"\\/\udbff\udfff"]"#)
    #expect(try JSON(Array(line.utf8)) == .array([.string(text)]))
  }

  /// What not every reader of JSON holds exactly is text.
  @Test func numbersBeyond53BitsAreTexts() {
    let most = 1 << 53
    for number in [most, -most] { #expect(DocumentText.line(PlainValue.whole(number)) == "\(number)") }
    for number in [most + 1, -most - 1, .max, .min] {
      #expect(DocumentText.line(PlainValue.whole(number)) == "\"\(number)\"")
    }
  }

  @Test func infinityAndNaNAreNoNumbers() {
    #expect(DocumentText.line([Double.nan]) == nil)
    #expect(DocumentText.line([PlainValue.number(.infinity)]) == "[null]", "a value that isn't known")
  }

  /// The JSON Schema has a document of each kind, by the word that is printed.
  @Test func everyKindOfDocumentIsInTheSchema() throws {
    let path =
      ProjectFolder.path
      + "/Documentation/schema/output-2.schema.json"
    let root = try JSON(SmallFile.read(path, limit: 1 << 20))
    let words = (root.fields?["$defs"]?.fields ?? [:]).compactMap { _, definition in
      definition.fields?["properties"]?.fields?["document"]?.fields?["const"]?.text
    }
    #expect(words.sorted() == DocumentKind.allCases.map(\.rawValue).sorted())
  }
}
