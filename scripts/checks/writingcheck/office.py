"""office.py PIPE FOLDER COUNT: has the LibreOffice that listens at PIPE store letter.odt in FOLDER, and open, change and store it
COUNT times; each fifth time it is stored under another name, too."""

import sys
import time

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException

pipe, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
local = uno.getComponentContext()
resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
end = time.monotonic() + 240
while True:
    try:
        context = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        break
    except NoConnectException:
        if time.monotonic() > end:
            sys.exit("LibreOffice does not answer")
        time.sleep(0.2)
desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
hidden = PropertyValue(Name="Hidden", Value=True)
letter, other = (uno.systemPathToFileUrl(f"{folder}/{name}.odt") for name in ("letter", "other"))
document = desktop.loadComponentFromURL("private:factory/swriter", "_blank", 0, (hidden,))
document.Text.setString("begun")
document.storeAsURL(letter, ())
document.close(True)
for number in range(1, count + 1):
    document = desktop.loadComponentFromURL(letter, "_blank", 0, (hidden,))
    document.Text.insertString(document.Text.End, f" saved{number}.", False)
    document.store()
    if number % 5 == 0:
        document.storeToURL(other, ())
    document.close(True)
