# picture.py - the pictures of docs/playground.md:
#     make playground && python3 tests/playground/picture.py docs/pictures
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pages import open_page, serve, webdriver  # noqa: E402

folder, site = sys.argv[1], serve()
for name, width, height, dark in (("playground", 1280, 850, False), ("playground_dark", 1280, 850, True),
                                  ("playground_phone", 390, 844, False)):
    with webdriver.Browser(width, height, dark=dark) as browser:
        open_page(browser, site)
        if width < 500:
            browser.run("byId('output').scrollIntoView()")
        time.sleep(2)                   # the frame of the timeline draws by itself
        browser.screenshot(os.path.join(folder, name + ".png"))
