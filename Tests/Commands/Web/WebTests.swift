// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import Glibc
import TestSupport
import Testing

/// `web` as a process, with a service and simulated accessories, as a browser sees it.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct WebTests {
  /// Starts the page of the sandbox's service; returns it with its port.
  private func web(
    _ box: Sandbox, _ arguments: String..., at socket: String? = "readings.socket"
  ) async throws -> (Program, port: UInt16) {
    let place = socket.map { ["--socket", box.runtime.path + "/accessory-bridge/" + $0] } ?? []
    let program = try box.start(["web", "--listen", "0"] + place + arguments, limit: Sandbox.longLife)
    let line = try await program.line(containing: " is open")
    let port = line.split(whereSeparator: { ":/ ".contains($0) }).lazy.compactMap { UInt16($0) }.first
    return (program, try #require(port, "\(line)"))
  }

  /// What the page's server answers until it closes the connection.
  private func get(_ path: String, _ port: UInt16, _ fields: String = "") async throws -> String {
    try await ask("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n", port)
  }

  /// What it answers to a form.
  private func post(_ path: String, _ port: UInt16, _ body: String, _ fields: String...) async throws -> String {
    let lines =
      ["POST \(path) HTTP/1.1", "Host: localhost", "Content-Type: application/x-www-form-urlencoded"] + fields
      + ["Content-Length: \(body.utf8.count)"]
    return try await ask(lines.joined(separator: "\r\n") + "\r\n\r\n" + body, port)
  }

  private func ask(_ request: String, _ port: UInt16) async throws -> String {
    let transport = try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: port))
    let session = AccessorySession(transport)
    try await session.write(Array(request.utf8))
    var bytes: [UInt8] = []
    do {
      for try await piece in session.input { bytes += piece }
    } catch {}
    await session.close()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The events of a page, as they come.
  private final class Events: Sendable {
    private let session: AccessorySession
    let text = Watched("")

    init(_ path: String, _ port: UInt16) async throws {
      session = AccessorySession(
        try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: port)))
      try await session.write(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
      Task { [session, text] in
        do {
          for try await piece in session.input { text.update { $0 += String(decoding: piece, as: UTF8.self) } }
        } catch {}
      }
    }

    func close() async { await session.close() }
    func forget() { text.update { $0 = "" } }
    func wait(for part: String) async throws { _ = try await text.wait { $0.contains(part) } }
  }

  @Test func thePageFollowsAccessories() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57", "--voltage", "3712")
      let service = try await box.serve("--alarm", "battery < 20 %")
      let (program, port) = try await web(box)
      let page = try await get("/", port)
      #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
      for text in ["<a href=\"accessory/SIM0001\">SIM0001</a>", "57<small> %</small>", "1 accessory<"] {
        #expect(page.contains(text), "\(text) in \(page)")
      }
      let detail = try await get("/accessory/SIM0001", port)
      for text in ["<h1>SIM0001</h1>", "<dt>Model</dt><dd>AF1-SIM</dd>", "3.712 V"] {
        #expect(detail.contains(text), "\(text)")
      }
      let events = try await Events("/events", port)
      try await events.wait(for: "57<small> %</small>")
      // Unplugged, and plugged in again with a battery that is low.
      try await simulator.stop()
      try await events.wait(for: "<p class=\"state\">gone</p>")
      _ = try await box.simulate("--percent", "12")
      try await events.wait(for: "12<small> %</small>")
      try await events.wait(for: "battery &lt; 20 % (12 %)")
      try await events.wait(for: "event: title\ndata: 1 alarm – ")
      let list = try await get("/accessory/SIM0001", port)
      for text in ["> connected</li>", "> disconnected", "alarm: battery &lt; 20 %, now 12 %"] {
        #expect(list.contains(text), "\(text)")
      }
      // The service ends, and starts again.
      events.forget()
      service.signal(SIGKILL)
      try await service.end()
      try await events.wait(for: "no service")
      _ = try await box.serve()
      try await events.wait(for: "12<small> %</small>")
      await events.close()
      program.signal(SIGTERM)
      #expect(try await program.end().status == 0)
    }
  }

  @Test func otherMachinesNeedAToken() async throws {
    try await Sandbox.with { box in
      let open = try await box.run("web", "--listen", "0.0.0.0:0", "--allow", "10.0.0.0/8")
      #expect(open.status == EX_CONFIG && open.errorText.contains("--token-file"), "\(open.errorText)")
      #expect(try await box.run("web", "--listen", "0.0.0.0:0").status == EX_USAGE)
      #expect(try await box.run("web", "--base", "batteries").status == EX_USAGE)
      try box.directory.write(Array("short\n".utf8), to: "token")
      #expect(chmod(box.directory.path + "/token", 0o600) == 0)
      #expect(try await box.run("web", "--token-file", "token").errorText.contains("openssl rand -hex 24"))
      try box.directory.write(Array("0123456789abcdef\n".utf8), to: "token")
      #expect(chmod(box.directory.path + "/token", 0o604) == 0)
      #expect(try await box.run("web", "--token-file", "token").errorText.contains("chmod o= token"))
      #expect(chmod(box.directory.path + "/token", 0o600) == 0)
      let (program, port) = try await web(box, "--token-file", "token", "--base", "/b")
      #expect(try await get("/b/", port).hasPrefix("HTTP/1.1 401 "))
      #expect(try await get("/b/", port, "Authorization: Bearer 0123456789abcdef\r\n").hasPrefix("HTTP/1.1 200 "))
      #expect(try await get("/b/", port, "Authorization: Bearer wrong\r\n").hasPrefix("HTTP/1.1 401 "))
      try await program.errors(containing: "1 wrong token was refused")
    }
  }

  /// An accessory with a command that only asks, and one that changes something.
  private static let pack = """
    protocol: pack
    version: 1
    framings:
      line: {layout: [data, end: "\\r\\n"]}
    messages:
      voltage: {pattern: "{battery.voltage} V", types: {battery.voltage: {type: number, unit: V}}}
      done: {pattern: "OK"}
    requests:
      voltage: {summary: The voltage, send: line, data: "V?", reply: voltage}
      output:
        summary: Switches the output
        send: line
        data: ["OUT ", {argument: to}]
        arguments: {to: {type: text, words: {0: "off", 1: "on"}, from: 0, to: 1}}
        reply: done
        write: true
    plan:
      poll: [{requests: [voltage], every: 30s}]

    """

  /// The commands that the service's configuration names are performed, for those with the token, from the page itself.
  @Test func commandsArePerformedWhereTheyAreAllowed() async throws {
    try await Sandbox.with { box in
      for folder in ["/protocols", "/profiles"] { mkdir(box.directory.path + folder, 0o700) }
      try box.directory.write(Array(Self.pack.utf8), to: "protocols/pack.yaml")
      try box.directory.write(
        Array("name: my-pack\nmatch: {serial: PACK1}\nprotocol: pack\nwrites: allowed\n".utf8),
        to: "profiles/my-pack.yaml")
      try box.configure(
        "commands:\n- {accessory: PACK1, command: output, arguments: {to: any}, write: true}\n"
          + "- {accessory: PACK1, command: voltage}\n- {accessory: SIM0001, command: battery}\n")
      try box.directory.write(Array("0123456789abcdef\n".utf8), to: "token")
      #expect(chmod(box.directory.path + "/token", 0o600) == 0)
      _ = try await box.simulate(kind: "--profile", "my-pack", "--serial", "PACK1")
      let service = try await box.serve()
      try await service.errors(containing: "PACK1 is attached at")
      // Without a token nobody may.
      let open = try await box.run("web", "--listen", "0", "--allow-commands")
      #expect(open.status == EX_CONFIG && open.errorText.contains("people with the token"), "\(open.errorText)")

      let (program, port) = try await web(box, "--token-file", "token", "--allow-commands")
      let (path, login) = ("/accessory/PACK1/commands", "Authorization: Bearer 0123456789abcdef")
      let origin = "Origin: http://localhost"
      let page = try await get(path, port, login + "\r\n")
      let parts = page.split(separator: "name=\"form\" value=\"")
      let form = "form=" + String(try #require(parts.count > 1 ? parts[1] : nil, "\(page)").prefix { $0 != "\"" })
      #expect(page.contains("Perform <code>output</code>") && page.contains("Perform <code>voltage</code>"))
      let output = form + "&command=output&argument.to=off"
      // Refused: without a token, by another site, by an old form, by GET, without its name, and what isn't named.
      #expect(try await post(path, port, output + "&confirm=output", origin).hasPrefix("HTTP/1.1 401 "))
      for other in ["Origin: http://evil.example", "Origin: null", "X: y"] {
        let refused = try await post(path, port, output + "&confirm=output", login, other)
        #expect(refused.hasPrefix("HTTP/1.1 403 "), "\(other)")
      }
      let old = try await post(path, port, "form=0123&command=output&argument.to=off&confirm=output", login, origin)
      #expect(old.hasPrefix("HTTP/1.1 403 ") && old.contains("Load the page again"), "\(old)")
      #expect(try await get(path + "?" + output + "&confirm=output", port, login + "\r\n").hasPrefix("HTTP/1.1 200 "))
      let unnamed = try await post(path, port, output + "&confirm=outptu", login, origin, "Accept: text/plain")
      #expect(unnamed.contains("output to=off wasn't performed: it changes something"), "\(unnamed)")
      let other = try await post(path, port, form + "&command=reset", login, origin)
      #expect(other.hasPrefix("HTTP/1.1 403 ") && other.contains("doesn't permit"), "\(other)")
      #expect(!service.transcript.value.errorText.contains("output, for user"))
      // Performed: with its name, as a form, and as a script asks for it.
      let moved = try await post(path, port, output + "&confirm=output", login, origin)
      #expect(moved.hasPrefix("HTTP/1.1 303 ") && moved.contains("\r\nLocation: commands?outcome=1\r\n"), "\(moved)")
      let told = try await get(path + "?outcome=1", port, login + "\r\n")
      #expect(told.contains("output to=off was performed."), "\(told)")
      try await service.errors(containing: "PACK1: output, for user")
      try await program.errors(containing: "command from 127.0.0.1: PACK1: output to=off was performed.")
      let asked = try await post(path, port, form + "&command=voltage", login, origin, "Accept: text/plain")
      #expect(asked.hasPrefix("HTTP/1.1 200 ") && asked.contains("voltage was performed"), "\(asked)")
      // The service refuses what its configuration doesn't allow any more, and the page says so.
      try box.configure("commands: []\n")
      service.signal(SIGHUP)
      try await service.errors(containing: "permits no command")
      let late = try await post(path, port, form + "&command=voltage", login, origin)
      #expect(late.hasPrefix("HTTP/1.1 403 "), "\(late)")
    }
  }

  /// At the socket that answers everything, nothing limits commands: the page offers none there.
  @Test func noCommandIsOfferedAtTheOtherSocket() async throws {
    try await Sandbox.with { box in
      try box.configure("commands: [{driver: framed, command: battery}]\n")
      try box.directory.write(Array("0123456789abcdef\n".utf8), to: "token")
      #expect(chmod(box.directory.path + "/token", 0o600) == 0)
      _ = try await box.simulate()
      _ = try await box.serve()
      let login = "Authorization: Bearer 0123456789abcdef\r\n"
      for (socket, isOffered) in [("bridge.socket", false), ("readings.socket", true)] {
        let place = box.runtime.path + "/accessory-bridge/" + socket
        let (_, port) = try await web(box, "--socket", place, "--token-file", "token", "--allow-commands", at: nil)
        try await eventually("the accessory is there") {
          try await get("/", port, login).contains("accessory/SIM0001")
        }
        let page = try await get("/accessory/SIM0001/commands", port, login)
        #expect(
          page.contains("Perform <code>battery</code>") == isOffered && !page.contains("<code>echo</code>"), "\(page)")
      }
    }
  }

  /// Slow clients and many connections: others are served in between, and the memory is bounded.
  @Test func manyConnectionsAreBounded() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      _ = try await box.serve()
      let (program, port) = try await web(box)
      #expect(try await get("/", port).contains("57<small> %</small>"))
      var sockets: [DescriptorTransport] = []
      for number in 0..<500 {
        let transport = try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: port))
        // Most say nothing; some don't finish their request, and some don't read the reply.
        let text =
          number % 3 == 0 ? "GET / HT" : number % 3 == 1 ? "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n" : ""
        if !text.isEmpty { _ = transport.output.offer(Array(text.utf8)) }
        sockets.append(transport)
      }
      defer { for socket in sockets { socket.beginClose() } }
      #expect(program.transcript.value.status == nil)
      let descriptors = Directory.names(in: "/proc/\(program.pid)/fd").count
      #expect(descriptors < 170, "\(descriptors)")
      // Those that are slow lose their places in the end.
      try await eventually("the page is served again", within: .seconds(60)) {
        (try? await get("/", port))?.contains("57<small> %</small>") == true
      }
    }
  }

  /// While nobody looks, nothing is asked of the service, and no timer runs.
  @Test func nobodyLookingCostsNothing() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      _ = try await box.serve()
      let (program, port) = try await web(box)
      #expect(try await get("/", port).contains("57<small> %</small>"))
      try await eventually("the service isn't followed any more", within: .seconds(90)) {
        Directory.names(in: "/proc/\(program.pid)/fdinfo").allSatisfy { name in
          let bytes = try? SmallFile.read("/proc/\(program.pid)/fdinfo/" + name, limit: 4_096)
          let text = bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
          return !text.contains("it_value") || text.contains("it_value: (0, 0)")
        }
      }
    }
  }
}
