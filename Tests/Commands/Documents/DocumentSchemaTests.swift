// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import TestSupport
import Testing

/// The schema of what `--json` prints is held against documents in earnest. The page is made from it: `WireTests`.
@Suite struct DocumentSchemaTests {
  /// A document is taken only as it should be.
  @Test(arguments: [
    (#"{"error":{"errno":null,"exit_status":64,"kind":"usage","libusb":null,"message":"m","refusal":null},"#, nil),
    (#"{"error":{"errno":null,"exit_status":64,"kind":"usage","message":"m","refusal":null},"#, "libusb is missing"),
    (
      #"{"error":{"errno":"2","exit_status":64,"kind":"usage","libusb":null,"message":"m","refusal":null},"#,
      "errno is no integer or null"
    ),
    (
      #"{"error":{"errno":null,"exit_status":64,"kind":"new","libusb":null,"message":"m","refusal":null},"#,
      "kind is another word"
    ),
    (
      #"{"error":{"errno":null,"exit_status":6.5,"kind":"busy","libusb":null,"message":"m","refusal":null},"#,
      "exit_status is no integer"
    ),
    (
      #"{"error":{"errno":null,"exit_status":1,"kind":"busy","libusb":null,"message":"m","refusal":1,"x":1},"#,
      "x is not described"
    ),
  ])
  func whatIsWrongIsFound(begin: String, problem: String?) throws {
    let document = try JSON(begin + #""document":"error","schema":"accessory-bridge/2"}"#)
    let problems = try DocumentSchema().problems(in: document, as: "error")
    #expect(problems == (problem.map { ["error.error.\($0)"] } ?? []))
    let other = try JSON(begin + #""document":"error","schema":"accessory-bridge/1"}"#)
    #expect(try DocumentSchema().problems(in: other, as: "error").contains("error.schema is another constant"))
  }

  @Test func theSchemaChecksPatternsAndBounds() throws {
    let schema = try DocumentSchema()
    #expect(try schema.problems(in: ["hex": "00ff"], as: "bytes") == [])
    for hex in ["0", "0G", "FF"] as [JSON] { #expect(try !schema.problems(in: ["hex": hex], as: "bytes").isEmpty) }
    let log: JSON = [
      "document": "log", "event": "log", "level": "info", "message": "m", "schema": "accessory-bridge/2",
    ]
    #expect(try schema.problems(in: log.merging(["time": 1_795_337_583]), as: "log") == [])
    #expect(try schema.problems(in: log.merging(["time": 12]), as: "log").count == 1, "that is no time since 1970")
    #expect(try schema.problems(in: ["code": [1, nil, ["hex": "00"], ["hex": 1]]], as: "plain_value").isEmpty == false)
    #expect(try schema.problems(in: [1, nil, ["hex": "00"]], as: "plain_value") == [])
  }

  /// A document of each kind with all its fields is taken, and with one field that is missing, of another type or with a
  /// nonsensical value it is refused.
  @Test(arguments: [DocumentSchema.output, DocumentSchema.mqtt]) func whatIsWrongIsRefused(file: String) throws {
    let schema = try DocumentSchema(file)
    for kind in schema.documents {
      let sample = try schema.sample(kind)
      #expect(try schema.kinds(of: sample) == [kind])
      let taken = try DocumentMutations.taken(of: sample, by: schema, hasAllFields: file == DocumentSchema.output)
      #expect(taken == [], "\(kind)")
    }
  }

  /// What the simulated kinds publish to a broker is described, and whatever is wrong in it is refused.
  @Test func whatIsPublishedIsDescribed() throws {
    let (schema, output) = (try DocumentSchema(DocumentSchema.mqtt), try DocumentSchema())
    let folder = OldVersion.root + "/Tests/Units/AccessoryFleetTests/Kinds"
    let files = Directory.names(in: folder)
    #expect(files.count >= 18)
    for file in files {
      let documents = try JSON(String(decoding: SmallFile.read("\(folder)/\(file)", limit: 1 << 20), as: UTF8.self))
      for kind in ["state", "values"] {
        let document = try #require(documents[kind])
        #expect(try schema.problems(in: document, as: kind) == [], "\(file)")
        #expect(try DocumentMutations.taken(of: document, by: schema, hasAllFields: false) == [], "\(file)")
        // It isn't one of those that commands print.
        #expect(try output.kinds(of: document, isStrict: false) == [], "\(file)")
      }
    }
  }

  /// A mutation of the schema that opens it is found: a document whose battery is a word was taken once.
  @Test func aWordForABatteryIsRefused() throws {
    let schema = try DocumentSchema()
    let document = try schema.sample("battery")
    #expect(try schema.accepts(document))
    #expect(try !schema.accepts(document.merging(["battery": "nonsense"])))
    #expect(try !schema.accepts(document.merging(["document": "status"])))
    #expect(try !schema.accepts(document.without("document")))
  }
}
