#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a real browser makes of the page of bridge-cli web: it follows simulated accessories, has no error on its console, and axe
finds nothing serious. With --pictures FOLDER it also makes the pictures of the documentation."""

import argparse, base64, importlib.util, json, math, os, pathlib, re, shutil, signal, socket, struct, subprocess, sys, tempfile, threading, time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("bin", help="the folder of bridge-cli")
parser.add_argument("--pictures", type=pathlib.Path, help="make the pictures, in this folder")
parser.add_argument("--many", type=int, default=0, help="also try a phone with about so many accessories")
parser.add_argument("--open", type=float, default=0, help="also keep a page open for so many seconds, and say what memory it takes")
parser.add_argument("--only", help="only the parts with these names, with commas between them")
parser.add_argument("--patience", type=float, default=20)
arguments = parser.parse_args()

work = pathlib.Path(tempfile.mkdtemp())
for name in ["run", "config", "profiles", "protocols", "state"]:
    (work / name).mkdir(mode=0o700)
environment = dict(
    os.environ, XDG_RUNTIME_DIR=str(work / "run"), XDG_CONFIG_HOME=str(work / "config"), XDG_STATE_HOME=str(work / "state"),
    ACCESSORY_BRIDGE_SOURCES="simulator", ACCESSORY_BRIDGE_PROFILES=str(work / "profiles"),
    ACCESSORY_BRIDGE_PROTOCOLS=str(work / "protocols"), LC_ALL="C.UTF-8", TZ="UTC")
programs = []
failures = []
# Only the rules of the package are used, which is for another driver of browsers.
axe = pathlib.Path(importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0], "axe.min.js").read_text()


def start(*words, until=None, program="bridge-cli", own=environment):
    log = open(work / f"log{len(programs)}", "w+")
    path = program if "/" in program else f"{arguments.bin}/{program}"
    program = subprocess.Popen([path, *words], env=own, stdout=log, stderr=log, cwd=work)
    programs.append(program)
    deadline = time.time() + arguments.patience
    while until and time.time() < deadline:
        text = pathlib.Path(log.name).read_text()
        if found := re.search(until, text):
            return program, found
        if program.poll() is not None:
            sys.exit(f"{words} ended: {text}")
        time.sleep(0.05)
    if until:
        sys.exit(f"{words} doesn't say {until}")
    return program, None


def check(condition, text):
    print(("ok    " if condition else "FAILED ") + text, flush=True)
    if not condition:
        failures.append(text)


def memory(program):
    """VmRSS and RssAnon, in KiB."""
    text = pathlib.Path(f"/proc/{program.pid}/status").read_text()
    return [int(re.search(name + r":\s+(\d+)", text)[1]) for name in ("VmRSS", "RssAnon")]


def heap(driver):
    """What JavaScript takes after its garbage was collected, in KiB, and the page's number of nodes."""
    driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    metrics = {one["name"]: one["value"] for one in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
    return int(metrics["JSHeapUsedSize"]) // 1024, int(metrics["Nodes"])


def commands(driver):
    """Commands that the service permits, with scripts and without."""
    until(driver, "the accessory's page leads to its commands", lambda d: d.find_elements(By.CSS_SELECTOR, ".act"))
    driver.find_element(By.CSS_SELECTOR, ".act").click()
    until(driver, "there is a form for each command", lambda d: len(d.find_elements(By.CSS_SELECTOR, "form.command")) == 2)
    for width, height, scheme, name in [(1200, 860, "light", "web-commands"), (390, 844, "dark", "web-commands-phone")]:
        look(driver, width, height, scheme, 2)
        judge(driver, f"commands, {width}, {scheme}")
        picture(driver, name)

    def form(name):
        return next(one for one in driver.find_elements(By.CSS_SELECTOR, "form.command") if one.find_element(By.TAG_NAME, "h2").text == name)

    def press(name, **fields):
        for field, text in fields.items():
            form(name).find_element(By.NAME, field).send_keys(text)
        form(name).find_element(By.TAG_NAME, "button").click()

    press("voltage")
    until(driver, "a command says what came back", lambda d: "voltage was performed: " in form("voltage").text)
    driver.execute_script("for (const one of document.querySelectorAll('select')) one.value = 'off'")
    press("output", confirm="outptu")
    until(driver, "a wrong name performs nothing", lambda d: "wasn't performed: it changes something" in form("output").text)
    form("output").find_element(By.NAME, "confirm").clear()
    press("output", confirm="output")
    until(driver, "its name performs it", lambda d: "output to=off was performed" in form("output").text)
    judge(driver, "what became of commands")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=True))
    driver.get(driver.current_url)
    press("voltage")
    until(driver, "without scripts the page says it", lambda d: 'class="outcome done"' in d.page_source)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=False))


PACK = """protocol: pack
version: 1
framings:
  line: {layout: [data, end: "\\r\\n"]}
messages:
  voltage: {pattern: "{battery.voltage} V", types: {battery.voltage: {type: number, unit: V}}}
  done: {pattern: "OK"}
requests:
  voltage: {summary: The battery's voltage, send: line, data: "V?", reply: voltage}
  output:
    summary: Switches the battery's output
    send: line
    data: ["OUT ", {argument: to}]
    arguments: {to: {type: text, words: {0: "off", 1: "on"}, from: 0, to: 1}}
    reply: done
    write: true
plan:
  poll: [{requests: [voltage], every: 30s}]
"""


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def write_day(path, accessory, series):
    """A day of readings, as a service that ran until now has written it: the first form of the file, which has no numbers of its own. `series` are
    names and units, with what was read so many hours ago."""
    def framed(content):
        return b"\xabHR1" + struct.pack("<II", len(content), crc32c(content)) + content

    def text(words):
        return struct.pack("<H", len(words.encode())) + words.encode()

    now = time.time()
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    uptime = time.clock_gettime(time.CLOCK_BOOTTIME)
    file = b"accessory-bridge history 1\n" + framed(b"\x01" + text(boot) + struct.pack("<ddd", now, uptime, now))
    for name, unit, reading in series:
        # Ten seconds for the last hour, a minute for six, five for the day.
        for tier, (width, count) in enumerate([(10, 358), (60, 358), (300, 287)]):
            last = int(now // width) - 1
            content = b"\x02" + text(accessory) + text(name) + b"\x01" + text(unit) + struct.pack("<BH", tier, count)
            for slot in range(last - count + 1, last + 1):
                value = reading((now - slot * width) / 3600)
                content += struct.pack("<IHBfff", slot, 10, 0, value, value, value)
            file += framed(content)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_bytes(file)


def day(ago):
    """The charge, the current and the voltage of a battery in a van, some hours ago: charged by the sun from eight to five, used in the evening."""
    hour = (time.localtime().tm_hour + time.localtime().tm_min / 60 - ago) % 24
    sun = max(0, math.sin((hour - 8) / 9 * math.pi)) if 8 <= hour <= 17 else 0
    use = 12 if 18 <= hour <= 23 else 3 + 1.5 * math.sin(hour * 5)
    return 64 + 22 * math.cos((hour - 17) / 12 * math.pi), 28 * sun - use, 52.4 + sun * 2 - use * 0.05


def simulate(*words):
    return start("simulate", *words, until=" is plugged in at ")[0]


def browser():
    options = Options()
    for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", f"--user-data-dir={work}/browser"]:
        options.add_argument(word)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def look(driver, width, height, scheme="light", scale=1):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", dict(width=width, height=height, deviceScaleFactor=scale, mobile=width < 600))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dict(features=[
        dict(name="prefers-color-scheme", value=scheme), dict(name="prefers-reduced-motion", value="reduce")]))


def until(driver, what, condition, limit=None):
    begin = time.time()
    try:
        WebDriverWait(driver, limit or arguments.patience, poll_frequency=0.05).until(condition)
        check(True, f"{what} ({time.time() - begin:.1f} s)")
    except Exception as error:
        check(False, f"{what}: {type(error).__name__} {str(error)[:200]}")
        print("      the page:", driver.find_element(By.TAG_NAME, "body").text[-600:].replace("\n", " | "))


def state(driver, name):
    return driver.execute_script(
        "const card = document.getElementById('a-' + arguments[0]); return card ? card.innerText : ''", name)


def judge(driver, what):
    driver.execute_script(axe)
    result = driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    serious = [v for v in result["violations"] if v["impact"] in ("serious", "critical")]
    for v in result["violations"]:
        print(f"      axe, {v['impact']}: {v['id']}: {v['help']}: " + "; ".join(n["html"][:150] for n in v["nodes"][:3]))
    check(not serious, f"axe finds nothing serious: {what} ({len(result['passes'])} rules passed, {len(result['violations'])} not)")
    wide = driver.execute_script("return document.scrollingElement.scrollWidth - innerWidth")
    check(wide <= 0, f"nothing is wider than the window: {what} ({wide})")


def picture(driver, name):
    folder = arguments.pictures
    if not folder:
        return
    folder.mkdir(parents=True, exist_ok=True)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", dict(format="png"))
    (folder / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
    print(folder / f"{name}.png", flush=True)


HOUSE = ["--profile", "jbd", "--serial", "HOUSE", "--set", "battery.current=-12.5", "--drain", "0.15", "--percent"]


def cards(driver):
    return driver.find_elements(By.CSS_SELECTOR, ".card")


def ids(driver):
    return driver.execute_script("return [...document.querySelectorAll('.card')].map((card) => card.id)")


class Parts:
    """The parts of the check, in order."""

    def __init__(self, driver, address, web, plugged):
        self.driver, self.address, self.web, self.plugged = driver, address, web, plugged

    def again(self, name, *words):
        """Unplugs an accessory, and plugs it in again with other words."""
        self.unplug(name)
        self.plugged[name] = simulate(*words)

    def unplug(self, name):
        program = self.plugged.pop(name)
        program.send_signal(signal.SIGINT)
        program.wait()

    def lamp(self, percent):
        self.again("DESK-LAMP", "framed", "--serial", "DESK-LAMP", "--percent", str(percent))

    def list(self):
        driver = self.driver
        look(driver, 1200, 860)
        driver.get(self.address)
        until(driver, "all cards are there", lambda d: len(cards(d)) >= 10)
        time.sleep(2)
        first = [card.get_attribute("id") for card in cards(driver)][:3]
        check(set(first) == {"a-SHED", "a-DOOR", "a-PRINTER"}, f"what needs care comes first: {first}")
        for scheme in ["light", "dark"]:
            look(driver, 1200, 860, scheme, 2)
            judge(driver, f"list, {scheme}")
            picture(driver, "web" if scheme == "light" else "web-dark")
        for scheme in ["light", "dark"]:
            look(driver, 390, 844, scheme, 2)
            judge(driver, f"list on a phone, {scheme}")
            picture(driver, "web-phone" if scheme == "dark" else "web-phone-light")

    def follow(self):
        driver = self.driver
        look(driver, 1200, 860)
        driver.get(self.address)
        until(driver, "all cards are there", lambda d: len(cards(d)) >= 10)
        # Unplugged, and plugged in again; the focus stays where it is.
        link = driver.find_element(By.CSS_SELECTOR, "#a-TAG-11 a")
        driver.execute_script("arguments[0].focus()", link)
        self.unplug("DESK-LAMP")
        until(driver, "a card follows an unplug", lambda d: "gone" in state(d, "DESK-LAMP"))
        self.plugged["DESK-LAMP"] = simulate("framed", "--serial", "DESK-LAMP", "--percent", "55")
        until(driver, "a card follows a plug", lambda d: "55" in state(d, "DESK-LAMP"))
        focused = driver.execute_script("return document.activeElement.textContent")
        check(focused == "TAG-11", f"the focus stays: {focused}")

        # An alarm appears, and goes.
        def alarms(driver):
            return int((re.match(r"(\d+) alarm", driver.title) or [0, 0])[1])

        before = alarms(driver)
        self.lamp(7)
        until(driver, "an alarm appears, also in the title", lambda d: "alarm" in state(d, "DESK-LAMP") and alarms(d) == before + 1)
        place = driver.execute_script("return [...document.querySelectorAll('.card')].findIndex((card) => card.id === 'a-DESK-LAMP')")
        check(place <= before, f"its card is among the first ({place})")
        self.lamp(55)
        until(driver, "the alarm goes", lambda d: "alarm" not in state(d, "DESK-LAMP") and alarms(d) == before)
        # With the keyboard: Enter on a card leads to its page.
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        until(driver, "Enter leads to the accessory's page", lambda d: d.current_url.endswith("/accessory/TAG-11"))

    def choose(self):
        """Finding, sorting and grouping, with a script and without."""
        driver = self.driver
        look(driver, 1200, 860)
        driver.get(self.address)
        until(driver, "all cards are there", lambda d: len(cards(d)) >= 10)
        driver.find_element(By.CSS_SELECTOR, ".choose summary").click()
        judge(driver, "the form to choose")
        find = driver.find_element(By.NAME, "find")
        find.send_keys("tag-11")
        until(driver, "only what was looked for is shown", lambda d: ids(d) == ["a-TAG-11"])
        check("find=tag-11" in driver.current_url, f"the address has the choice: {driver.current_url}")
        check(driver.switch_to.active_element == find, "the focus stays in the field")
        find.send_keys(Keys.CONTROL, "a")
        find.send_keys("nobody")
        until(driver, "nothing was found, and the page says so", lambda d: "No accessory has" in d.find_element(By.ID, "notes").text)
        judge(driver, "nothing was found")
        find.send_keys(Keys.CONTROL, "a")
        find.send_keys(Keys.BACKSPACE)
        until(driver, "all are there again", lambda d: len(cards(d)) >= 10)
        driver.execute_script("const one = document.querySelector('[name=sort]'); one.value = 'name'; one.dispatchEvent(new Event('input', { bubbles: true }))")
        until(driver, "they are in the order of their names", lambda d: ids(d) == sorted(ids(d)))
        driver.execute_script("const one = document.querySelector('[name=group]'); one.value = 'kind'; one.dispatchEvent(new Event('input', { bubbles: true }))")
        until(driver, "they are grouped", lambda d: d.execute_script("return document.querySelector('.group')?.textContent") == "Batteries")
        judge(driver, "groups")
        picture(driver, "web-groups")
        driver.execute_script("const one = document.querySelector('[name=view]'); one.value = 'table'; one.dispatchEvent(new Event('input', { bubbles: true }))")
        until(driver, "they are a table", lambda d: len(d.find_elements(By.CSS_SELECTOR, "tbody tr[id^=a-]")) >= 10)
        self.lamp(56)
        until(driver, "a line of the table follows", lambda d: "56 %" in d.find_element(By.ID, "a-DESK-LAMP").text)
        for width, scheme in [(1200, "light"), (390, "dark")]:
            look(driver, width, 860, scheme, 2)
            judge(driver, f"table, {width}, {scheme}")
            picture(driver, "web-table" if width > 1000 else "web-table-phone")
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=True))
        driver.get(self.address + "?find=tag&sort=name&view=")
        check(driver.page_source.count('<li class="card') == 1, "without scripts the address chooses")
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=False))

    def states(self):
        """What the page says where there is no service, and none of its accessories."""
        driver = self.driver
        look(driver, 1200, 860)
        for name, words in [("none", None), ("empty", ["serve"])]:
            place = work / name
            place.mkdir(mode=0o700)
            mine = dict(environment, XDG_RUNTIME_DIR=str(place), ACCESSORY_BRIDGE_SOURCES="none" if words is None else "simulator")
            if words:
                start(*words, until="bridge.socket", own=mine)
            _, found = start("web", "--listen", "127.0.0.1:0", until=r"(http://127.0.0.1:\d+/) is open", own=mine)
            driver.get(found[1])
            until(driver, f"the page says what to do: {name}", lambda d: "bridge-cli" in d.find_element(By.ID, "notes").text)
            print("      ", driver.find_element(By.ID, "notes").text)
            judge(driver, f"page: {name}")
            picture(driver, f"web-{name}")

    def care(self):
        """An accessory that is gone, and one that has fallen silent, beside one with an alarm."""
        driver = self.driver
        self.unplug("DESK-LAMP")
        # It keeps its port, and answers nothing any more.
        self.plugged["HOUSE"].send_signal(signal.SIGSTOP)
        look(driver, 1200, 860)
        driver.get(self.address)
        until(driver, "a card says that it is gone, and what was read last",
              lambda d: re.search("gone", state(d, "DESK-LAMP")) and "57 %" in state(d, "DESK-LAMP"))
        until(driver, "a card says that its readings are old", lambda d: re.search("stale|no answer|silent", state(d, "HOUSE")), limit=150)
        for name in ["DESK-LAMP", "HOUSE"]:
            print("      ", state(driver, name).replace("\n", " | "))
        # Opened afresh, the page shows the same.
        driver.get(self.address)
        until(driver, "the page opened afresh shows both", lambda d: "gone" in state(d, "DESK-LAMP") and state(d, "HOUSE"))
        for width, scheme, name in [(1200, "light", "web-care"), (1200, "dark", "web-care-dark"), (390, "light", "web-care-phone"), (390, "dark", "web-care-phone-dark")]:
            look(driver, width, 860, scheme, 2)
            judge(driver, f"gone and silent, {width}, {scheme}")
            picture(driver, name)
        look(driver, 1200, 860)
        for name in ["DESK-LAMP", "HOUSE"]:
            driver.get(self.address + "accessory/" + name)
            until(driver, f"the page of {name} is there", lambda d: len(d.find_element(By.TAG_NAME, "main").text) > 80)
            judge(driver, f"the page of {name}")
            picture(driver, "web-care-" + ("gone" if name == "DESK-LAMP" else "silent"))
        self.plugged["HOUSE"].send_signal(signal.SIGCONT)
        self.plugged["DESK-LAMP"] = simulate("framed", "--serial", "DESK-LAMP", "--percent", "57")
        driver.get(self.address)
        until(driver, "both are there again",
              lambda d: not re.search("stale|no answer|silent|gone", state(d, "HOUSE") + state(d, "DESK-LAMP")), limit=90)

    def day(self):
        """Graphs of a whole day."""
        driver = self.driver
        look(driver, 1200, 860)
        driver.get(self.address + "accessory/HOUSE?range=24h")
        until(driver, "the graphs of a day are there", lambda d: len(d.find_elements(By.CSS_SELECTOR, ".plot .line")) >= 2, limit=60)
        box = "const box = document.querySelector('.plot .line').getBBox(); return box.width / document.querySelector('.plot .line').ownerSVGElement.viewBox.baseVal.width"
        print("       the first graph's line is this much of its width:", driver.execute_script(box))
        for width, height, scheme, name in [(1200, 1500, "light", "web-day"), (1200, 1500, "dark", "web-day-dark"), (390, 844, "light", "web-day-phone"), (390, 844, "dark", "web-day-phone-dark")]:
            look(driver, width, height, scheme, 2)
            judge(driver, f"a day's graphs, {width}, {scheme}")
            picture(driver, name)

    def detail(self):
        driver = self.driver
        if arguments.pictures:
            # A history with a gap, which takes its time.
            time.sleep(100)
            self.unplug("HOUSE")
            time.sleep(70)
            self.plugged["HOUSE"] = simulate(*HOUSE, "64")
            time.sleep(150)
        driver.get(self.address + "accessory/HOUSE")
        until(driver, "the cells are there", lambda d: len(d.find_elements(By.CSS_SELECTOR, ".cells li")) > 3)
        until(driver, "the graphs are there", lambda d: len(d.find_elements(By.CSS_SELECTOR, ".plot .line")) >= 2, limit=60)
        for width, height, scheme, name in [
            (1200, 1500, "light", "web-detail"), (1200, 1500, "dark", "web-detail-dark"), (390, 844, "light", "web-detail-phone"), (390, 844, "dark", "web-detail-phone-dark")]:
            look(driver, width, height, scheme, 2)
            judge(driver, f"page of an accessory, {width}, {scheme}")
            picture(driver, name)
        look(driver, 1200, 860)
        # Read out by the keyboard, and under the pointer.
        driver.execute_script("document.querySelector('figure .cursor').focus()")
        until(driver, "a graph is read out by the keyboard", lambda d: re.match(r"\d\d:\d\d: [\d.]+ %$", d.find_element(By.CSS_SELECTOR, ".readout").text))
        text = driver.find_element(By.CSS_SELECTOR, ".readout").text
        driver.switch_to.active_element.send_keys(Keys.HOME)
        until(driver, "Home goes to its beginning", lambda d: d.find_element(By.CSS_SELECTOR, ".readout").text != "")
        value = driver.execute_script("return document.querySelector('figure .cursor').getAttribute('aria-valuetext')")
        check(value == driver.find_element(By.CSS_SELECTOR, ".readout").text, f"a screen reader hears the same: {value}, before {text}")
        time.sleep(3)
        check(driver.find_element(By.CSS_SELECTOR, ".readout").text != "", "it stays while the graph moves")
        driver.execute_script("document.activeElement.blur()")
        plot = driver.find_elements(By.CSS_SELECTOR, ".plot")[1]
        driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", plot)
        ActionChains(driver).move_to_element(plot).perform()
        until(driver, "a graph is read out under the pointer", lambda d: " W" in d.find_elements(By.CSS_SELECTOR, ".readout")[1].text)
        judge(driver, "a graph that is read out")
        driver.find_element(By.CSS_SELECTOR, ".ranges a").click()
        until(driver, "a range is chosen", lambda d: "range=10min" in d.current_url and d.find_elements(By.CSS_SELECTOR, ".ranges a[aria-current]"))
        # Without scripts it is a page, too.
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=True))
        driver.get(self.address)
        check(driver.page_source.count('class="card') >= 10, "the page works without scripts")
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=False))

    def commands(self):
        simulate("--profile", "my-pack", "--serial", "GARAGE")
        (work / "token").write_text("0123456789abcdef\n")
        (work / "token").chmod(0o600)
        _, found = start("web", "--listen", "127.0.0.1:0", "--token-file", "token", "--allow-commands", until=r"http://(127.0.0.1:\d+)/ is open")
        # Somebody who gives the token in the address, as bookmarks do.
        self.driver.get(f"http://me:0123456789abcdef@{found[1]}/accessory/GARAGE")
        commands(self.driver)

    def fleet(self):
        driver = self.driver
        broker = shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        start("-p", str(port), program=broker, until=r"mosquitto version .* running")
        url = f"mqtt://127.0.0.1:{port}"
        start("publish", "--broker", url, "--gateway", "attic", program="bridge-fleet")
        fleet, found = start("web", "--broker", url, "--listen", "127.0.0.1:0", program="bridge-fleet", until=r"http://(127.0.0.1:\d+)/ is open")
        look(driver, 1200, 860)
        driver.get(f"http://{found[1]}/")
        until(driver, "the fleet has all cards", lambda d: len(cards(d)) >= 10)
        until(driver, "with their readings", lambda d: "9 %" in d.find_element(By.CSS_SELECTOR, ".cards").text)
        judge(driver, "a fleet")
        picture(driver, "web-fleet")
        self.unplug("DESK-LAMP")
        until(driver, "a card of the fleet follows an unplug",
              lambda d: any("DESK-LAMP" in card.text and re.search("gone|away|offline", card.text) for card in cards(d)))
        self.plugged["DESK-LAMP"] = simulate("framed", "--serial", "DESK-LAMP", "--percent", "55")
        print(f"      the fleet's server has {memory(fleet)} KiB (VmRSS, RssAnon)")

    def many(self):
        driver = self.driver
        for line in range((arguments.many + 15) // 16):
            simulate("--profile", "daly", "--serial", f"LINE{line}", "--units", "1..16")
        look(driver, 390, 844, "light", 2)
        driver.get(self.address)
        until(driver, "many cards are there", lambda d: len(cards(d)) >= arguments.many, limit=120)
        self.figures()
        judge(driver, "many accessories on a phone")
        time.sleep(20)
        picture(driver, "web-many")
        took = driver.execute_script("const begin = performance.now(); document.body.offsetHeight; return performance.now() - begin")
        print(f"      {len(cards(driver))} cards, {driver.execute_script('return document.body.scrollHeight')} pixels high, laid out in {took:.1f} ms")

    def figures(self):
        """How long the page takes to load, and how long after a battery's event the page shows it."""
        driver = self.driver
        for _ in range(3):
            begin = time.time()
            driver.get(self.address)
            until(driver, "all are there at once", lambda d: len(cards(d)) >= arguments.many)
            whole = time.time() - begin
            entry = driver.execute_script("const one = performance.getEntriesByType('navigation')[0]; return [one.responseStart, one.responseEnd, one.domContentLoadedEventEnd, one.loadEventEnd, one.encodedBodySize]")
            print("      %d cards: first byte after %.0f ms, last after %.0f, page built after %.0f, loaded after %.0f ms, %d bytes; seen after %.1f s" % (len(cards(driver)), *entry, whole))
        self.again("DESK-LAMP", "framed", "--serial", "DESK-LAMP", "--percent", "90", "--drain", "0.5")
        until(driver, "the lamp is back", lambda d: "%" in state(d, "DESK-LAMP") and "gone" not in state(d, "DESK-LAMP"))
        driver.execute_script("""
            window.seen = []
            const look = () => {
              const found = /(\\d+) %/.exec(document.getElementById('a-DESK-LAMP')?.innerText ?? '')
              if (found && window.seen.at(-1)?.[0] !== found[1]) window.seen.push([found[1], Date.now()])
            }
            new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
            look()""")
        told = {}
        watch = subprocess.Popen([f"{arguments.bin}/bridge-cli", "battery", "DESK-LAMP", "--watch", "--json"], env=environment, stdout=subprocess.PIPE, text=True)

        def read():
            for line in watch.stdout:
                told.setdefault(str(json.loads(line)["battery"]["percent"]), time.time() * 1000)

        threading.Thread(target=read, daemon=True).start()
        time.sleep(30)
        watch.send_signal(signal.SIGINT)
        # The first that each has seen was there before.
        seen = dict(driver.execute_script("return window.seen")[1:])
        late = sorted(seen[percent] - told[percent] for percent in list(told)[1:] if percent in seen)
        print("      %d changes were seen, after bridge-cli watch had printed them: median %.0f ms, longest %.0f ms" % (len(late), late[len(late) // 2] if late else -1, late[-1] if late else -1))
        check(len(late) >= 5, "the page shows a battery's changes as they come")

    def open(self):
        driver = self.driver
        look(driver, 1200, 860)
        driver.get(self.address)
        driver.execute_cdp_cmd("Performance.enable", {})
        until(driver, "the page is open", lambda d: len(cards(d)) >= 10)
        # What is needed once was needed after a while.
        time.sleep(min(60, arguments.open / 4))
        begin, passed, samples = time.time(), 0, []
        while True:
            samples.append((*memory(self.web), *heap(driver)))
            print("      after %5.0f s: the server has %d and %d KiB (VmRSS, RssAnon), the page %d KiB and %d nodes" % (passed, *samples[-1]), flush=True)
            if passed >= arguments.open:
                break
            time.sleep(min(120, arguments.open - passed))
            passed = time.time() - begin
            # The list of its messages grows in the driver alone.
            gather(driver)
        (_, server, page, nodes), (_, later, laterPage, laterNodes) = samples[0], samples[-1]
        check(laterPage < page * 1.2 + 512 and laterNodes < nodes * 1.2 + 100, "the page's memory stays")
        check(later < server * 1.1 + 512, "the server's memory stays")
        check(not driver.find_element(By.ID, "offline").is_displayed(), "the page is connected")


errors = []
hosts = set()


def gather(driver):
    """Notes what the console has said, and which hosts were asked."""
    # Chromium itself notes that a command was refused.
    errors.extend(entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")
                  and not re.search("/commands - Failed to load resource: .* status of 409", entry["message"]))
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if url.startswith("http"):
                hosts.add(url.split("/")[2].split("@")[-1].split(":")[0])


try:
    driver = None
    wanted = (arguments.only or "list,follow,choose,day,detail,care,states,commands,fleet" + (",many" if arguments.many else "") + (",open" if arguments.open else "")).split(",")
    plugged = {"HOUSE": simulate(*HOUSE, "82")}
    simulate("--profile", "daly", "--serial", "SHED", "--percent", "9")
    simulate("--profile", "vedirect", "--serial", "SOLAR")
    simulate("--profile", "megatec", "--serial", "RACK-UPS")
    plugged["DESK-LAMP"] = simulate("framed", "--serial", "DESK-LAMP", "--percent", "57")
    simulate("framed", "--serial", "DOOR", "--percent", "18")
    simulate("framed", "--serial", "ROVER-1", "--percent", "92", "--charge", "charging", "--state", "busy", "--progress", "40")
    simulate("framed", "--serial", "PRINTER", "--percent", "71", "--state", "fault", "--fault-code", "12")
    simulate("framed", "--serial", "TAG-11", "--percent", "100", "--charge", "full")
    simulate("ev3")
    (work / "protocols" / "pack.yaml").write_text(PACK)
    (work / "profiles" / "my-pack.yaml").write_text("name: my-pack\nmatch: {serial: GARAGE}\nprotocol: pack\nwrites: allowed\n")
    for line in range((arguments.many + 15) // 16):
        (work / "profiles" / f"line-{line}.yaml").write_text(
            f"name: line-{line}\nmatch: {{serial: LINE{line}}}\ndriver: daly\nunits: 1..16\n")
    (work / "config" / "accessory-bridge").mkdir(mode=0o700)
    (work / "config" / "accessory-bridge" / "service.yaml").write_text(
        "commands:\n- {accessory: GARAGE, command: output, arguments: {to: any}, write: true}\n- {accessory: GARAGE, command: voltage}\n")
    write_day(work / "state" / "accessory-bridge" / "history", "HOUSE", [
        ("battery.percent", "%", lambda ago: day(ago)[0]), ("battery.current", "A", lambda ago: day(ago)[1]),
        ("battery.voltage", "V", lambda ago: day(ago)[2]), ("battery.power", "W", lambda ago: day(ago)[1] * day(ago)[2])])
    start("serve", "--poll", "1s", "--alarm", "battery < 20 %", until="SHED is attached")
    web, found = start("web", "--listen", "127.0.0.1:0", until=r"(http://127.0.0.1:\d+/) is open")
    driver = browser()
    parts = Parts(driver, found[1], web, plugged)
    for part in wanted:
        getattr(parts, part)()
        gather(driver)
    print(f"      the page's server has {memory(web)} KiB (VmRSS, RssAnon)")
    for entry in errors:
        print("      console:", entry["message"][:300])
    check(not errors, "the console has no error")
    check(hosts <= {"127.0.0.1"}, f"nothing is asked of another host: {sorted(hosts)}")
finally:
    if driver:
        driver.quit()
    for program in reversed(programs):
        program.kill()
        program.wait()
    shutil.rmtree(work, ignore_errors=True)
print("nothing failed" if not failures else f"{len(failures)} failed")
sys.exit(1 if failures else 0)
