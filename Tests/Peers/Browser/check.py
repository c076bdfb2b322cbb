#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a real browser makes of the page of bridge-cli web: it follows simulated accessories, has no error on its console, and axe
finds nothing serious. With --pictures FOLDER it also makes the pictures of the documentation."""

import argparse, base64, importlib.util, json, os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("bin", help="the folder of bridge-cli")
parser.add_argument("--pictures", type=pathlib.Path, help="make the pictures, in this folder")
parser.add_argument("--many", type=int, default=0, help="also try a phone with about so many accessories")
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


def start(*words, until=None):
    log = open(work / f"log{len(programs)}", "w+")
    program = subprocess.Popen([f"{arguments.bin}/bridge-cli", *words], env=environment, stdout=log, stderr=log, cwd=work)
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
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{program.pid}/status").read_text())[1]) // 1024


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


try:
    driver = None
    house = ["--profile", "jbd", "--serial", "HOUSE", "--set", "battery.current=-12.5", "--drain", "0.15", "--percent"]
    pack = simulate(*house, "82")
    simulate("--profile", "daly", "--serial", "SHED", "--percent", "9")
    simulate("--profile", "vedirect", "--serial", "SOLAR")
    simulate("--profile", "megatec", "--serial", "RACK-UPS")
    lamp = simulate("framed", "--serial", "DESK-LAMP", "--percent", "57")
    simulate("framed", "--serial", "DOOR", "--percent", "18")
    simulate("framed", "--serial", "ROVER-1", "--percent", "92", "--charge", "charging", "--state", "busy", "--progress", "40")
    simulate("framed", "--serial", "PRINTER", "--percent", "71", "--state", "fault", "--fault-code", "12")
    simulate("framed", "--serial", "TAG-11", "--percent", "100", "--charge", "full")
    simulate("ev3")
    start("serve", "--poll", "1s", "--alarm", "battery < 20 %", until="SHED is attached")
    web, found = start("web", "--listen", "127.0.0.1:0", until=r"(http://127.0.0.1:\d+/) is open")
    address = found[1]
    driver = browser()
    look(driver, 1200, 860)
    driver.get(address)
    until(driver, "all cards are there", lambda d: len(d.find_elements(By.CSS_SELECTOR, ".card")) >= 10)
    time.sleep(2)
    first = [card.get_attribute("id") for card in driver.find_elements(By.CSS_SELECTOR, ".card")][:3]
    check(set(first) == {"a-SHED", "a-DOOR", "a-PRINTER"}, f"what needs care comes first: {first}")
    for scheme in ["light", "dark"]:
        look(driver, 1200, 860, scheme, 2)
        judge(driver, f"list, {scheme}")
        picture(driver, "web" if scheme == "light" else "web-dark")
    for scheme in ["light", "dark"]:
        look(driver, 390, 844, scheme, 2)
        judge(driver, f"list on a phone, {scheme}")
        picture(driver, "web-phone" if scheme == "dark" else "web-phone-light")

    # Unplugged, and plugged in again; the focus stays where it is.
    look(driver, 1200, 860)
    link = driver.find_element(By.CSS_SELECTOR, "#a-TAG-11 a")
    driver.execute_script("arguments[0].focus()", link)
    lamp.send_signal(signal.SIGINT)
    lamp.wait()
    until(driver, "a card follows an unplug", lambda d: "gone" in state(d, "DESK-LAMP"))
    lamp = simulate("framed", "--serial", "DESK-LAMP", "--percent", "55")
    until(driver, "a card follows a plug", lambda d: "55" in state(d, "DESK-LAMP"))
    focused = driver.execute_script("return document.activeElement.textContent")
    check(focused == "TAG-11", f"the focus stays: {focused}")

    # With the keyboard: the first key leads to the skip link, Enter on a card to its page.
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    until(driver, "Enter leads to the accessory's page", lambda d: d.current_url.endswith("/accessory/TAG-11"))
    if arguments.pictures:
        # A history with a gap, which takes its time.
        time.sleep(100)
        pack.send_signal(signal.SIGINT)
        pack.wait()
        time.sleep(70)
        pack = simulate(*house, "64")
        time.sleep(150)
    driver.get(address + "accessory/HOUSE")
    until(driver, "the cells are there", lambda d: len(d.find_elements(By.CSS_SELECTOR, ".cells li")) > 3)
    until(driver, "the graphs are there", lambda d: len(d.find_elements(By.CSS_SELECTOR, ".plot .line")) >= 2, limit=60)
    for width, height, scheme, name in [
        (1200, 1500, "light", "web-detail"), (1200, 1500, "dark", "web-detail-dark"), (390, 844, "light", "web-detail-phone"), (390, 844, "dark", "web-detail-phone-dark")]:
        look(driver, width, height, scheme, 2)
        judge(driver, f"page of an accessory, {width}, {scheme}")
        picture(driver, name)
    look(driver, 1200, 860)
    driver.find_element(By.CSS_SELECTOR, ".ranges a").click()
    until(driver, "a range is chosen", lambda d: "range=10min" in d.current_url and d.find_elements(By.CSS_SELECTOR, ".ranges a[aria-current]"))

    # Without scripts it is a page, too.
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=True))
    driver.get(address)
    check(driver.page_source.count('class="card') >= 10, "the page works without scripts")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=False))

    if arguments.many:
        for line in range((arguments.many + 15) // 16):
            simulate("--profile", "daly", "--serial", f"LINE{line}", "--units", "1..16")
        driver.get(address)
        look(driver, 390, 844, "light", 2)
        until(driver, "many cards are there", lambda d: len(d.find_elements(By.CSS_SELECTOR, ".card")) >= arguments.many, limit=120)
        judge(driver, "many accessories on a phone")
        time.sleep(20)
    used = driver.execute_script("return performance.memory ? performance.memory.usedJSHeapSize : 0") // 1024
    print(f"      the page's server has {memory(web)} MiB, the page {used} KiB of JavaScript's memory")

    errors = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    for entry in errors:
        print("      console:", entry["message"][:300])
    check(not errors, "the console has no error")
    hosts = set()
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if url.startswith("http"):
                hosts.add(url.split("/")[2])
    check(hosts <= {address.split("/")[2]}, f"nothing is asked of another host: {sorted(hosts)}")
finally:
    if driver:
        driver.quit()
    for program in reversed(programs):
        program.kill()
        program.wait()
    shutil.rmtree(work, ignore_errors=True)
print("nothing failed" if not failures else f"{len(failures)} failed")
sys.exit(1 if failures else 0)
